package dev.weir.testkit;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A generator of random policies, and of traffic that is hard for them. */
public final class Traffic {
  /** The last instant of a request, so far before the horizon that every wait ends before it. */
  private static final long LAST_NANOS = Ticker.HORIZON_NANOS - (1L << 60);

  private static final long[] WINDOWS = {
    Quota.MIN_WINDOW_NANOS,
    1_000_003,
    1_000_000_000L,
    10_000_000_000L,
    60_000_000_000L,
    86_400_000_000_000L,
    Quota.MAX_WINDOW_NANOS
  };

  private static final long[] PERMITS = {
    0, 1, 2, 3, 5, 10, 100, 128, 129, 1_000, 700_000_000L, Quota.MAX_PERMITS
  };

  private final SplittableRandom random;
  private final Policy policy;
  private final long resolution;

  private Traffic(SplittableRandom random, Policy policy, long resolutionNanos) {
    this.random = random;
    this.policy = policy;
    this.resolution = resolutionNanos;
  }

  /** Returns any policy of that algorithm, from the whole range of quotas and options. */
  public static Policy policy(SplittableRandom random, Algorithm algorithm) {
    return policy(random, algorithm, 1);
  }

  /**
   * Returns any policy of that algorithm whose window and granule are multiples of the resolution,
   * from the whole range of quotas and options.
   */
  public static Policy policy(SplittableRandom random, Algorithm algorithm, long resolutionNanos) {
    long window = ceil(WINDOWS[random.nextInt(WINDOWS.length)], resolutionNanos);
    long granule = (window + Policy.DEFAULT_GRANULES - 1) / Policy.DEFAULT_GRANULES;
    long permits =
        random.nextInt(3) == 0 ? PERMITS[random.nextInt(PERMITS.length)] : random.nextLong(1, 12);
    Policy.Builder builder =
        Policy.builder(new Quota(permits, window)).algorithm(algorithm).name(algorithm.text());
    if (algorithm == Algorithm.SLIDING_WINDOW_BUCKETS && random.nextBoolean()) {
      long finest = (window + Policy.MAX_GRANULES - 1) / Policy.MAX_GRANULES;
      long most = random.nextBoolean() ? window : Math.min(window, 16 * finest);
      granule = random.nextLong(finest, most + 1);
    }
    if (algorithm.granular()) {
      builder.granularity(Duration.ofNanos(ceil(granule, resolutionNanos)));
    }
    if (algorithm.bucket() && random.nextBoolean()) {
      builder.burst(random.nextLong(0, 20));
    }
    return builder.build();
  }

  private static long ceil(long nanos, long resolution) {
    return Math.floorDiv(nanos + resolution - 1, resolution) * resolution;
  }

  /**
   * Returns {@code count} requests: bursts, equal times, steps to either side of windows' and
   * granules' edges, idle spells, clocks that go back, and costs from 0 to far above the limit.
   *
   * @param backNanos how far the time may go back
   */
  public static List<GeneratedRequest> of(
      SplittableRandom random, Policy policy, int count, long backNanos) {
    return of(random, policy, count, backNanos, 1);
  }

  /**
   * Returns requests like {@link #of(SplittableRandom, Policy, int, long)}, for a store that counts
   * time in steps: all times are multiples of the resolution, and steps to either side of an edge
   * have that length.
   */
  public static List<GeneratedRequest> of(
      SplittableRandom random, Policy policy, int count, long backNanos, long resolutionNanos) {
    return new Traffic(random, policy, resolutionNanos).make(count, backNanos / resolutionNanos);
  }

  // All times and lengths below are in steps of the resolution.

  private List<GeneratedRequest> make(int count, long mostBack) {
    long window = policy.quota().windowNanos() / resolution;
    int keys = random.nextInt(1, 4);
    long first = -(Ticker.HORIZON_NANOS / resolution);
    long last = LAST_NANOS / resolution;
    long now = start(first, last, Math.min(window * 4, last / 2 / count) * count);
    List<GeneratedRequest> asks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      now = Math.min(last, now + step(now, window));
      boolean back = mostBack > 0 && random.nextInt(4) == 0;
      long at = back ? Math.max(first, now - random.nextLong(mostBack)) : now;
      asks.add(new GeneratedRequest(at * resolution, "key-" + random.nextInt(keys), cost()));
    }
    return asks;
  }

  /** Returns a time that is at least {@code span} before the last one. */
  private long start(long first, long last, long span) {
    return switch (random.nextInt(6)) {
      case 0 -> 0;
      case 1 -> first;
      case 2 -> last - span;
      case 3 -> -random.nextLong(1_000_000_000_000L) / resolution;
      default -> (1_763_700_000_000_000_000L + random.nextLong(1_000_000_000_000L)) / resolution;
    };
  }

  private long step(long now, long window) {
    long edge = window - Math.floorMod(now, window);
    long granule = Math.max(1, policy.granularityNanos() / resolution);
    long share = window / Math.max(1, Math.min(window, policy.quota().permits()));
    return switch (random.nextInt(12)) {
      case 0, 1, 2 -> 0;
      case 3 -> 1;
      case 4 -> Math.max(0, edge - random.nextInt(3));
      case 5 -> edge;
      case 6 -> Math.max(0, granule - Math.floorMod(now, granule) - random.nextInt(2));
      case 7 -> Math.max(0, window + random.nextInt(-1, 2));
      case 8 -> random.nextLong(2 * window + 2);
      case 9 -> random.nextLong(window / 4 + 1);
      default -> random.nextLong(2 * share + 1);
    };
  }

  private long cost() {
    long most = policy.burst();
    return switch (random.nextInt(12)) {
      case 0 -> 0;
      case 1 -> most;
      case 2 -> most + 1;
      case 3 -> random.nextInt(4) == 0 ? Long.MAX_VALUE : 2;
      case 4, 5, 6 -> random.nextLong(most + 1);
      case 7 -> random.nextLong(most / 4 + 1);
      default -> 1;
    };
  }
}
