package dev.weir.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import io.grpc.Deadline;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** An engine with rules, on a ticker of its own. */
final class Limits implements AutoCloseable {
  /** Two calls of each method per minute. */
  static final String TWO_A_MINUTE =
      """
      domain: shop
      descriptors:
        - key: method
          rate_limit:
            name: calls
            unit: minute
            requests_per_unit: 2
      """;

  final FakeTicker ticker = new FakeTicker();
  final Engine engine;

  Limits(String rules) {
    this(rules, new MemoryStore());
  }

  Limits(String rules, Store store) {
    engine = Engine.create(store, ticker, EngineSettings.DEFAULTS);
    apply(engine, rules);
  }

  static void apply(Engine engine, String yaml) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", yaml);
    assertThat(loaded.ruleSet()).as("%s", loaded.problems()).isNotNull();
    engine.apply(Objects.requireNonNull(loaded.ruleSet()));
  }

  /** Returns the permits that a key of {@link #TWO_A_MINUTE} has left. */
  long left(String method) {
    AtomicReference<@Nullable Answer> answer = new AtomicReference<>();
    engine.peek(Request.of("shop", "method", method), answer::set);
    return Objects.requireNonNull(answer.get()).statuses().get(0).limitRemaining();
  }

  /** Returns a deadline on the ticker's time. */
  Deadline deadline(long millis) {
    return Deadline.after(
        millis,
        TimeUnit.MILLISECONDS,
        new Deadline.Ticker() {
          @Override
          public long nanoTime() {
            return ticker.nanos();
          }
        });
  }

  @Override
  public void close() {
    engine.close();
  }
}
