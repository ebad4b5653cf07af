package dev.weir.insight;

import dev.weir.MemoryStore;
import dev.weir.engine.DecidedDescriptor;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Statuses of a real engine, reported for keys that a test chooses. */
final class Decided {
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 1}
        - key: path
          value: /login
          rate_limit: {unit: minute, requests_per_unit: 1}
      """;

  private final Status allowed;
  private final Status refused;
  private final Status fixed;

  Decided() {
    FakeTicker ticker = new FakeTicker(1_000_000_000L);
    try (Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS)) {
      engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
      allowed = engine.decide(Request.of("shop", "user", "a")).statuses().get(0);
      refused = engine.decide(Request.of("shop", "user", "a")).statuses().get(0);
      fixed = engine.decide(Request.of("shop", "path", "/login")).statuses().get(0);
    }
  }

  /** A decision as an observer receives it. */
  private record Told(Descriptor descriptor, Status status, long fingerprint, boolean refused)
      implements DecidedDescriptor {
    @Override
    public @Nullable Rule rule() {
      return status.rule();
    }
  }

  DecidedDescriptor refused(String user) {
    return told(user, fingerprint(user), true);
  }

  private DecidedDescriptor told(String user, long fingerprint, boolean isRefused) {
    return new Told(
        Descriptor.of("user", user), isRefused ? refused : allowed, fingerprint, isRefused);
  }

  /** Returns a refusal of a descriptor with so many entries, all of them of that length. */
  DecidedDescriptor longest(int i, int entries, int length) {
    String[] keysAndValues = new String[2 * entries];
    for (int j = 0; j < keysAndValues.length; j += 2) {
      keysAndValues[j] = String.format("k%0" + (length - 1) + "d", j);
      keysAndValues[j + 1] = String.format("%0" + length + "d", i);
    }
    return new Told(Descriptor.of(keysAndValues), refused, i * 0x9e3779b97f4a7c15L, true);
  }

  void observe(HotKeys keys, DecidedDescriptor longest) {
    keys.decided(longest);
  }

  private static long fingerprint(String text) {
    long mixed = text.hashCode() * 0x9e3779b97f4a7c15L + text.length();
    return mixed ^ mixed >>> 31;
  }

  void observe(HotKeys keys, String user, boolean isRefused) {
    keys.decided(told(user, fingerprint(user), isRefused));
  }

  void observeFixed(HotKeys keys) {
    keys.decided(new Told(Descriptor.of("path", "/login"), fixed, 1, true));
  }

  void observe(Insight insight, String user, long fingerprint, boolean isRefused) {
    insight.decided(told(user, fingerprint, isRefused));
  }
}
