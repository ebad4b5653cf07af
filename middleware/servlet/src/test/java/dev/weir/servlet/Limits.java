package dev.weir.servlet;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.http.RequestLimiter;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** An engine whose clock a test moves. */
final class Limits implements AutoCloseable {
  static final String DOMAIN = "shop";

  /** Rules of the keys that tests count by, with queues for some. */
  private static final String RULES =
      """
      domain: shop
      descriptors:
        - {key: who, rate_limit: {unit: hour, requests_per_unit: 5}}
        - {key: kind, rate_limit: {unit: hour, requests_per_unit: 1000}}
        - {key: ip, rate_limit: {unit: hour, requests_per_unit: 1000}}
        - {key: path, rate_limit: {unit: hour, requests_per_unit: 1000}}
        - {key: account, rate_limit: {unit: hour, requests_per_unit: 10}}
        - {key: budget, rate_limit: {unit: hour, requests_per_unit: 1000}}
        - {key: seat, rate_limit: {concurrency: 3, hold: 1m}}
        - {key: place, rate_limit: {concurrency: 100, hold: 1m}}
        - key: line
          rate_limit:
            {concurrency: 1, hold: 1m, on_limit: {queue: {requests: 10, wait: 1m}}}
        - key: turn
          rate_limit:
            name: turn
            unit: minute
            requests_per_unit: 60000
            algorithm: token-bucket
            burst: 1
            on_limit: {queue: {requests: 60000, wait: 1m}}
      """;

  /** The most waiting requests, more than in any test. */
  private static final int MAX_WAITING = 20_000;

  final FakeTicker ticker = new FakeTicker(1_000_000_000_000_000L);
  final Engine engine;

  Limits() {
    EngineSettings defaults = EngineSettings.DEFAULTS;
    EngineSettings settings =
        new EngineSettings(
            defaults.shadowMode(),
            defaults.nearLimitPercent(),
            defaults.maxDescriptors(),
            defaults.maxEntries(),
            defaults.maxKeyLength(),
            MAX_WAITING);
    engine = Engine.create(new MemoryStore(), ticker, settings);
    engine.apply(requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
  }

  RequestLimiter.Builder limiter(String descriptor) {
    return RequestLimiter.builder(engine).domain(DOMAIN).descriptor(descriptor).ticker(ticker);
  }

  /** Returns the permits that a key has used. */
  long used(String key, String value) {
    Status status = peek(key, value).statuses().get(0);
    return status.decision() == null ? 0 : status.decision().limit() - status.limitRemaining();
  }

  private Answer peek(String key, String value) {
    AtomicReference<@Nullable Answer> answer = new AtomicReference<>();
    engine.peek(Request.of(DOMAIN, key, value), answer::set);
    return requireNonNull(answer.get());
  }

  /** Uses a key's next permit up, so that the next request for it waits for a millisecond. */
  void use(String key, String value) {
    assertThat(engine.decide(Request.of(DOMAIN, key, value)).allowed()).isTrue();
  }

  long waiting() {
    return engine.metrics().queues().waiting();
  }

  /** Waits until this number of requests wait for their turn. */
  void awaitWaiting(long requests) {
    Awaiting.until(() -> waiting() == requests, () -> "waiting: " + waiting());
  }

  /**
   * Moves the time again and again until a condition holds: a task may be added, for a while from
   * now, after the time has been moved.
   */
  void advanceUntil(Duration by, BooleanSupplier condition) {
    Awaiting.until(
        () -> {
          advance(by);
          return condition.getAsBoolean();
        },
        () -> "waiting: " + waiting());
  }

  void advance(Duration by) {
    ticker.advance(by);
  }

  @Override
  public void close() {
    engine.close();
  }
}
