package dev.weir.spring;

import dev.weir.Ticker;
import dev.weir.engine.EngineMetrics;
import dev.weir.engine.ReloadListener;
import dev.weir.engine.RuleMetrics;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.seats.SeatMetrics;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The counts of an engine, as meters. Safe for use by many threads.
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>name</th><th>what</th><th>tags</th></tr>
 * <tr><td>{@code weir.rule.permits}</td><td>permits that were requested</td>
 * <td>{@code rule}, {@code outcome}: within_limit, tolerated, over_limit, incomplete,
 * refused_by_other, undecided</td></tr>
 * <tr><td>{@code weir.decisions}</td><td>requests</td>
 * <td>{@code outcome}: allowed, refused, error</td></tr>
 * <tr><td>{@code weir.decision}</td><td>time that decisions took</td><td></td></tr>
 * <tr><td>{@code weir.queue.size}</td><td>requests that wait for their turn</td><td></td></tr>
 * <tr><td>{@code weir.queue.wait}</td><td>time that they waited</td><td></td></tr>
 * <tr><td>{@code weir.seats}</td><td>seats of limits at the same time</td>
 * <td>{@code event}: granted, renewed, released, lost, leaked, uncertain; see {@link
 * SeatMetrics}</td></tr>
 * <tr><td>{@code weir.keys}</td><td>keys with state in this process</td><td>{@code limiter}</td></tr>
 * <tr><td>{@code weir.memory}</td><td>bytes of that state</td><td>{@code limiter}</td></tr>
 * <tr><td>{@code weir.fill}</td><td>how full the store is, 0 to 100</td><td>{@code limiter}</td></tr>
 * <tr><td>{@code weir.revision}</td><td>number of the rules in force</td><td></td></tr>
 * <tr><td>{@code weir.store.available}</td><td>1 if the shared store answers</td><td></td></tr>
 * </table>
 *
 * <p>No meter is tagged with a key: keys come from requests, and there are as many as clients.
 */
public final class EngineMeters implements MeterBinder {
  /**
   * The time for which all meters of a registry share a snapshot: each snapshot costs a walk of all
   * rules.
   */
  private static final long KEEP_NANOS = 100_000_000L;

  /** The value of the tag that meters of {@code weir-micrometer} have too. */
  private static final String LIMITER = "rules";

  private record Snapshot(
      long atNanos, EngineMetrics metrics, Map<String, Map<String, Long>> rules) {}

  private final RunningEngine engine;
  private final SharedStores stores;
  private final ReloadListeners reloads;
  private final Ticker ticker;
  private volatile @Nullable Snapshot last;

  EngineMeters(RunningEngine engine, SharedStores stores, ReloadListeners reloads, Ticker ticker) {
    this.engine = engine;
    this.stores = stores;
    this.reloads = reloads;
    this.ticker = ticker;
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    decisions(registry, "allowed", m -> m.requests() - m.denied());
    decisions(registry, "refused", EngineMetrics::denied);
    decisions(registry, "error", EngineMetrics::errors);
    FunctionTimer.builder(
            "weir.decision",
            this,
            meters -> meters.metrics().requests() - meters.metrics().overloaded(),
            meters -> meters.metrics().decisionTimeSumNanos(),
            TimeUnit.NANOSECONDS)
        .description("Time that decisions took")
        .register(registry);
    gauge(
        registry,
        "weir.queue.size",
        "Requests that wait for their turn",
        m -> m.queues().waiting());
    FunctionTimer.builder(
            "weir.queue.wait",
            this,
            meters -> meters.metrics().queues().admitted() + meters.metrics().queues().refused(),
            meters -> meters.metrics().queues().waitedNanos(),
            TimeUnit.NANOSECONDS)
        .description("Time that requests waited for their turn")
        .register(registry);
    seats(registry, "granted", SeatMetrics::granted);
    seats(registry, "renewed", SeatMetrics::renewed);
    seats(registry, "released", SeatMetrics::released);
    seats(registry, "lost", SeatMetrics::lost);
    seats(registry, "leaked", SeatMetrics::leaked);
    seats(registry, "uncertain", SeatMetrics::uncertain);
    gauge(registry, "weir.revision", "Number of the rules in force", EngineMetrics::revision);
    state(registry);
    Gauge.builder("weir.store.available", stores, each -> each.available() ? 1 : 0)
        .description("Whether the shared store can be asked")
        .register(registry);
    RuleMeters rules = new RuleMeters(registry);
    rules.update();
    reloads.add(rules);
  }

  private void state(MeterRegistry registry) {
    Gauge.builder("weir.keys", this, meters -> meters.metrics().keys())
        .description("Keys that have state in this process")
        .tag("limiter", LIMITER)
        .register(registry);
    Gauge.builder("weir.memory", this, meters -> meters.metrics().bytes())
        .description("Memory that the state of keys takes in this process")
        .baseUnit("bytes")
        .tag("limiter", LIMITER)
        .register(registry);
    Gauge.builder("weir.fill", this, meters -> meters.engine.engine().fullPercent())
        .description("How full the store is, of keys or of bytes, the greater")
        .baseUnit("percent")
        .tag("limiter", LIMITER)
        .register(registry);
  }

  private void decisions(
      MeterRegistry registry, String outcome, ToDoubleFunction<EngineMetrics> value) {
    FunctionCounter.builder("weir.decisions", this, each -> value.applyAsDouble(each.metrics()))
        .description("Requests decided")
        .baseUnit("requests")
        .tag("outcome", outcome)
        .register(registry);
  }

  private void seats(MeterRegistry registry, String event, ToDoubleFunction<SeatMetrics> value) {
    FunctionCounter.builder(
            "weir.seats", engine, each -> value.applyAsDouble(each.engine().seats().metrics()))
        .description("Seats of limits at the same time")
        .baseUnit("seats")
        .tag("event", event)
        .register(registry);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String description,
      ToDoubleFunction<EngineMetrics> value) {
    Gauge.builder(name, this, each -> value.applyAsDouble(each.metrics()))
        .description(description)
        .register(registry);
  }

  private EngineMetrics metrics() {
    return snapshot().metrics;
  }

  private double permits(String rule, String outcome) {
    return snapshot().rules.getOrDefault(rule, Map.of()).getOrDefault(outcome, 0L);
  }

  private Snapshot snapshot() {
    Snapshot known = last;
    long now = ticker.nanos();
    if (known == null || now - known.atNanos >= KEEP_NANOS) {
      EngineMetrics metrics = engine.engine().metrics();
      Map<String, Map<String, Long>> rules = new HashMap<>();
      RuleTotals.of(metrics.rules())
          .forEach((name, counted) -> rules.put(name, RuleTotals.classes(counted)));
      known = new Snapshot(now, metrics, rules);
      last = known;
    }
    return known;
  }

  /** The meters of the rules in force, in one registry. */
  private final class RuleMeters implements ReloadListener {
    private final MeterRegistry registry;
    private final Map<String, List<FunctionCounter>> byRule = new HashMap<>();

    RuleMeters(MeterRegistry registry) {
      this.registry = registry;
    }

    @Override
    public void applied(
        long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {
      update();
    }

    synchronized void update() {
      Set<String> gone = new HashSet<>(byRule.keySet());
      for (RuleMetrics rule : RuleTotals.of(engine.engine().metrics().rules()).values()) {
        gone.remove(rule.policy());
        byRule.computeIfAbsent(rule.policy(), name -> counters(name, rule));
      }
      for (String rule : gone) {
        for (Meter counter : byRule.getOrDefault(rule, List.of())) {
          registry.remove(counter);
        }
        byRule.remove(rule);
      }
    }

    private List<FunctionCounter> counters(String rule, RuleMetrics counted) {
      return RuleTotals.classes(counted).keySet().stream()
          .map(
              outcome ->
                  FunctionCounter.builder(
                          "weir.rule.permits",
                          EngineMeters.this,
                          meters -> meters.permits(rule, outcome))
                      .description("Permits that requests asked for")
                      .baseUnit("permits")
                      .tag("rule", rule)
                      .tag("outcome", RuleTotals.tag(outcome))
                      .register(registry))
          .toList();
    }
  }
}
