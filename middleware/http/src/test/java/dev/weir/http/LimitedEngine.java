package dev.weir.http;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.identity.RequestView;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** An engine with a few rules on a clock that stands still, and the verdicts of limiters on it. */
final class LimitedEngine {
  static final String RULES =
      """
      domain: app
      descriptors:
        - key: ip
          rate_limit: {window: 1m, requests_per_unit: 2, algorithm: fixed-window, name: by-ip}
        - key: user
          rate_limit: {window: 1m, requests_per_unit: 2, algorithm: fixed-window, name: by-user}
        - key: never
          rate_limit: {window: 1m, requests_per_unit: 0, algorithm: fixed-window}
        - key: odd
          rate_limit:
            window: 1m
            requests_per_unit: 1
            algorithm: fixed-window
            name: "a\\r\\nSet-Cookie: b=<c>&\\u00e9"
        - key: turn
          rate_limit:
            window: 1s
            requests_per_unit: 1
            algorithm: fixed-window
            on_limit: {queue: {requests: 1, wait: 10s}}
      """;

  final FakeTicker ticker = new FakeTicker(1_700_000_000_000_000_000L);
  final Engine engine;

  LimitedEngine() {
    this(new MemoryStore());
  }

  LimitedEngine(Store store) {
    engine = Engine.create(store, ticker, EngineSettings.DEFAULTS);
    engine.apply(rules(RULES));
  }

  static RuleSet rules(String text) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", text);
    return Objects.requireNonNull(loaded.ruleSet(), () -> loaded.problems().toString());
  }

  RequestLimiter.Builder limiter(String descriptor) {
    return RequestLimiter.builder(engine).descriptor(descriptor).ticker(ticker);
  }

  static Verdict decide(RequestLimiter limiter, RequestView view) {
    List<Verdict> verdicts = new ArrayList<>();
    limiter.decide(view, verdicts::add);
    if (verdicts.size() != 1) {
      throw new AssertionError("verdicts: " + verdicts.size() + " (expected: 1)");
    }
    return verdicts.get(0);
  }

  /** Returns whether the limiter has decided the request. */
  static boolean counted(RequestLimiter limiter, RequestView view) {
    return decide(limiter, view).answer() != null;
  }

  /** Returns the lines of each field. */
  static Map<String, List<String>> fields(Verdict verdict) {
    Map<String, List<String>> fields = new TreeMap<>();
    verdict.fields(
        (name, value) -> fields.computeIfAbsent(name, n -> new ArrayList<>()).add(value));
    return fields;
  }
}
