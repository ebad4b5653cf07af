package dev.weir.traffic;

import dev.weir.internal.Choice;
import dev.weir.rules.ValueErrors;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;

/**
 * The options of generated traffic. Immutable. {@link Generator} checks them, and reports all
 * problems at once.
 *
 * @param traffic the kinds of traffic; at least one
 * @param seed the seed; the same seed and options give the same bytes
 * @param start the beginning of the traffic, 1970 to 2077
 * @param duration the duration, 1 ms to 366 days
 * @param rate the requests per second of the ordinary clients on average, above 0, at most
 *     1,000,000
 * @param clients the number of ordinary clients, 1 to 16,777,216
 * @param skew the exponent of Zipf's law by which the clients differ, 0 (not at all) to 3
 * @param window the window whose reset a herd waits for, 1 ms to 366 days
 * @param maxRequests the most requests, at least 1
 */
public record GeneratorOptions(
    Set<Kind> traffic,
    long seed,
    Instant start,
    Duration duration,
    double rate,
    int clients,
    double skew,
    Duration window,
    long maxRequests) {

  /** Kinds of traffic, to be mixed. */
  public enum Kind {
    /** Ordinary clients at a constant rate, independent of each other. */
    POISSON,
    /** Ordinary clients whose rate follows the day: least at 04:00 UTC, most at 16:00. */
    DAILY,
    /** Some clients that are silent for long and then send many requests at once. */
    BURSTS,
    /** One client that fetches page after page. */
    SCRAPER,
    /** Many addresses that try one password after another, for a part of the time. */
    STUFFER,
    /** Clients that were refused and all come back the moment that a window resets. */
    HERD;

    /** Returns the name used in flags, for example {@code poisson}. */
    public String text() {
      return Choice.text(this);
    }

    /**
     * Returns the kind of that name.
     *
     * @throws IllegalArgumentException if there is none; the message lists all
     */
    public static Kind of(String text) {
      return ValueErrors.choice(Kind.class, "traffic", text);
    }
  }

  /** The default options: an hour of all kinds, from a morning in November 2026. */
  public static final GeneratorOptions DEFAULTS =
      new GeneratorOptions(
          EnumSet.of(Kind.DAILY, Kind.BURSTS, Kind.SCRAPER, Kind.STUFFER, Kind.HERD),
          1,
          Instant.parse("2026-11-02T09:00:00Z"),
          Duration.ofHours(1),
          10,
          1_000,
          1,
          Duration.ofMinutes(1),
          Long.MAX_VALUE);

  public GeneratorOptions {
    traffic = Set.copyOf(traffic);
  }
}
