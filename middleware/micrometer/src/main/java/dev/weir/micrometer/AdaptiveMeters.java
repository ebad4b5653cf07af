package dev.weir.micrometer;

import dev.weir.adaptive.AdaptiveLimiter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;

/** The meters of an {@link AdaptiveLimiter}, which they refer to weakly. */
final class AdaptiveMeters {
  private AdaptiveMeters() {}

  static void bind(MeterRegistry registry, AdaptiveLimiter limiter, String name) {
    Tags tags = Tags.of("limiter", name);
    Gauge.builder("weir.adaptive.limit", limiter, AdaptiveLimiter::limit)
        .description("Permits that may be out at the same time")
        .baseUnit("permits")
        .tags(tags)
        .register(registry);
    Gauge.builder("weir.adaptive.in.flight", limiter, AdaptiveLimiter::inFlight)
        .description("Permits that are out")
        .baseUnit("permits")
        .tags(tags)
        .register(registry);
    Gauge.builder("weir.adaptive.waiting", limiter, AdaptiveLimiter::waiting)
        .description("Requests that wait for a permit")
        .baseUnit("requests")
        .tags(tags)
        .register(registry);
    FunctionCounter.builder("weir.adaptive.refused", limiter, AdaptiveLimiter::refusals)
        .description("Requests that were refused")
        .baseUnit("requests")
        .tags(tags)
        .register(registry);
  }
}
