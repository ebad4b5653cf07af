package dev.weir.micrometer;

import dev.weir.LimiterListener;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.internal.Choice;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The meters of the decisions of a {@link RateLimiter}, and of an {@link AdaptiveLimiter}. Safe for
 * use by many threads.
 *
 * <pre>{@code
 * WeirMetrics.monitor(registry, limiter, "api");
 * }</pre>
 *
 * <table>
 * <caption>Meters, each tagged with {@code limiter}</caption>
 * <tr><th>name</th><th>what</th><th>more tags</th></tr>
 * <tr><td>{@code weir.requests}</td><td>requests decided</td>
 * <td>{@code policy}, {@code outcome} (allowed, refused), {@code reason}</td></tr>
 * <tr><td>{@code weir.permits}</td><td>permits that they requested</td><td>the same</td></tr>
 * <tr><td>{@code weir.keys}</td><td>keys that have state in this process</td><td></td></tr>
 * <tr><td>{@code weir.memory}</td><td>bytes of that state, about</td><td></td></tr>
 * <tr><td>{@code weir.fill}</td><td>how full the store is, 0 to 100</td><td></td></tr>
 * <tr><td>{@code weir.adaptive.limit}</td><td>permits of an adaptive limiter that may be out</td>
 * <td></td></tr>
 * <tr><td>{@code weir.adaptive.in.flight}</td><td>permits of it that are out</td><td></td></tr>
 * <tr><td>{@code weir.adaptive.waiting}</td><td>requests that wait for one</td><td></td></tr>
 * <tr><td>{@code weir.adaptive.refused}</td><td>requests that it refused</td><td></td></tr>
 * </table>
 *
 * <p>No meter is tagged with a key: keys come from requests, and there are as many as clients. A
 * request over several policies counts once, under the policy that decided it.
 */
public final class WeirMetrics implements LimiterListener {
  private static final Reason[] REASONS = Reason.values();

  private record Counters(Counter requests, Counter permits) {}

  private final MeterRegistry registry;
  private final Tags tags;

  /**
   * The counters of each policy: those of a reason are at twice its number, plus one if allowed.
   */
  private final Map<String, AtomicReferenceArray<@Nullable Counters>> byPolicy =
      new ConcurrentHashMap<>();

  private WeirMetrics(MeterRegistry registry, String limiter) {
    this.registry = registry;
    this.tags = Tags.of("limiter", limiter);
  }

  /**
   * Counts the decisions of a limiter from now on, and shows the size of its state for as long as
   * it exists.
   *
   * @param name the limiter's name in the tag {@code limiter}
   * @return the limiter
   * @throws NullPointerException if an argument is null
   */
  public static RateLimiter monitor(MeterRegistry registry, RateLimiter limiter, String name) {
    WeirMetrics metrics = new WeirMetrics(named("registry", registry), named("name", name));
    named("limiter", limiter).listen(metrics);
    metrics.bindTo(limiter.store());
    return limiter;
  }

  /**
   * Shows an adaptive limiter for as long as it exists.
   *
   * @param name the limiter's name in the tag {@code limiter}
   * @return the limiter
   * @throws NullPointerException if an argument is null
   */
  public static AdaptiveLimiter monitor(
      MeterRegistry registry, AdaptiveLimiter limiter, String name) {
    AdaptiveMeters.bind(
        named("registry", registry), named("limiter", limiter), named("name", name));
    return limiter;
  }

  /**
   * Returns a listener that counts decisions, for {@link dev.weir.LimiterBuilder#listener}, for
   * example of a limiter without keys. It shows no state.
   *
   * @param name the limiter's name in the tag {@code limiter}
   * @throws NullPointerException if an argument is null
   */
  public static LimiterListener listener(MeterRegistry registry, String name) {
    return new WeirMetrics(named("registry", registry), named("name", name));
  }

  private static <T> T named(String name, T value) {
    return Objects.requireNonNull(value, name + ": null (expected: a value)");
  }

  private void bindTo(Store store) {
    // A gauge's reference is weak: a limiter that the program drops is collected.
    Gauge.builder("weir.keys", store, Store::keys)
        .description("Keys that have state in this process")
        .tags(tags)
        .register(registry);
    Gauge.builder("weir.memory", store, Store::bytes)
        .description("Memory that the state of keys takes in this process")
        .baseUnit("bytes")
        .tags(tags)
        .register(registry);
    Gauge.builder("weir.fill", store, Store::fullPercent)
        .description("How full the store is, of keys or of bytes, the greater")
        .baseUnit("percent")
        .tags(tags)
        .register(registry);
  }

  @Override
  public void onDecision(String policy, boolean allowed, Reason reason, long permits) {
    Counters counters = counters(policy, allowed, reason);
    counters.requests.increment();
    counters.permits.increment((double) permits);
  }

  @SuppressWarnings("EnumOrdinal") // An index into this array, kept nowhere else.
  private Counters counters(String policy, boolean allowed, Reason reason) {
    AtomicReferenceArray<@Nullable Counters> known = byPolicy.get(policy);
    if (known == null) {
      known =
          byPolicy.computeIfAbsent(policy, name -> new AtomicReferenceArray<>(2 * REASONS.length));
    }
    int number = 2 * reason.ordinal() + (allowed ? 1 : 0);
    Counters counters = known.get(number);
    if (counters == null) {
      counters = register(policy, allowed, reason); // Twice at worst: a registry keeps one.
      known.set(number, counters);
    }
    return counters;
  }

  private Counters register(String policy, boolean allowed, Reason reason) {
    Tags all =
        tags.and(
            "policy",
            policy,
            "outcome",
            allowed ? "allowed" : "refused",
            "reason",
            Choice.name(reason));
    Counter requests =
        Counter.builder("weir.requests")
            .description("Requests decided")
            .baseUnit("requests")
            .tags(all)
            .register(registry);
    Counter permits =
        Counter.builder("weir.permits")
            .description("Permits that the requests asked for")
            .baseUnit("permits")
            .tags(all)
            .register(registry);
    return new Counters(requests, permits);
  }
}
