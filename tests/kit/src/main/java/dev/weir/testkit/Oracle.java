package dev.weir.testkit;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An oracle that computes the answer of a policy in the simplest way: it keeps a list of the
 * admissions, reads all of it for every request, and calculates in whole numbers whose overflow is
 * an error. It is slow, and shares no code with the limiters that are compared with it. Not safe
 * for use by several threads.
 *
 * <p>The number of permits that fit at an instant follows from the list; the retry-after is the
 * first instant at which enough of them fit, found by halving.
 *
 * <p>Stores count time in steps, their resolution, and only multiples of it are instants: a window
 * {@code (t - W, t]} begins one step after {@code t - W}, a granule's last instant is one step
 * before its end, and a wait is rounded up to whole steps. Buckets alone count finer: their
 * emission interval is the window's share rounded up to whole nanoseconds. Only a store that cannot
 * count the time of a long bucket in nanoseconds rounds it up to whole steps; the store determines
 * which buckets those are.
 */
public abstract class Oracle {
  /**
   * The right answer.
   *
   * @param retryAfterNanos as in {@link Decision#retryAfterNanos()}
   */
  public record Verdict(boolean allowed, long remaining, long retryAfterNanos) {}

  /**
   * Permits that were admitted, the instant at which they were decided, and the time that a bucket
   * takes to get them back.
   *
   * @param beginNanos the instant of the first admission since nothing was counted
   */
  record Admission(long atNanos, long permits, long costNanos, long beginNanos) {}

  /**
   * The number of permits that fit at an instant if nothing else is admitted; negative if
   * overdrawn.
   */
  interface Room {
    long at(long nanos);
  }

  private final Map<String, List<Admission>> admitted;
  private final boolean exact;
  final Policy policy;
  final long resolution;
  final long limit;
  final long window;

  private Oracle(
      Map<String, List<Admission>> admitted, Policy policy, long resolutionNanos, boolean exact) {
    this.admitted = admitted;
    this.exact = exact;
    this.policy = policy;
    this.resolution = resolutionNanos;
    this.limit = policy.quota().permits();
    this.window = multiple("window", policy.quota().windowNanos(), resolutionNanos);
  }

  /** Returns an oracle of that policy in nanoseconds, for keys without earlier requests. */
  public static Oracle of(Policy policy) {
    return of(policy, 1, Long.MAX_VALUE);
  }

  /**
   * Returns an oracle of that policy for keys without earlier requests.
   *
   * @param resolutionNanos the steps in which the store counts time, at least 1 ns
   * @param mostFineNanos the longest time that the store counts in nanoseconds: a bucket whose
   *     window or full worth is longer has its emission interval rounded up to whole steps
   * @throws IllegalArgumentException if the window, or the granule of sliding-window buckets, is no
   *     multiple of the resolution
   */
  public static Oracle of(Policy policy, long resolutionNanos, long mostFineNanos) {
    return of(new HashMap<>(), policy, resolutionNanos, mostFineNanos, false);
  }

  /**
   * Returns an oracle like {@link #of(Policy, long, long)} of a store that counts small limits of
   * {@link Algorithm#SLIDING_WINDOW} exactly.
   */
  public static Oracle exact(Policy policy, long resolutionNanos, long mostFineNanos) {
    return of(new HashMap<>(), policy, resolutionNanos, mostFineNanos, true);
  }

  /**
   * Returns an oracle of another policy of the same shape, for the same keys: each counts the
   * admissions of both.
   */
  public final Oracle variant(Policy other, long mostFineNanos) {
    return of(admitted, other, resolution, mostFineNanos, exact);
  }

  private static Oracle of(
      Map<String, List<Admission>> admitted,
      Policy policy,
      long resolutionNanos,
      long mostFineNanos,
      boolean exact) {
    boolean few = policy.quota().permits() <= Policy.LOG_LIMIT;
    return switch (policy.algorithm()) {
      case SLIDING_WINDOW ->
          !few
              ? new SlidingOracle(
                  admitted, policy, policy.granularityNanos(), resolutionNanos, exact)
              : exact
                  ? new SlidingOracle(admitted, policy, resolutionNanos, resolutionNanos, true)
                  : new CompactOracle(admitted, policy, resolutionNanos);
      case SLIDING_WINDOW_LOG ->
          new SlidingOracle(admitted, policy, resolutionNanos, resolutionNanos, exact);
      case SLIDING_WINDOW_BUCKETS ->
          new SlidingOracle(admitted, policy, policy.granularityNanos(), resolutionNanos, exact);
      case SLIDING_WINDOW_COUNTER -> new WeightedOracle(admitted, policy, resolutionNanos, exact);
      case FIXED_WINDOW -> new FixedOracle(admitted, policy, resolutionNanos, exact);
      case TOKEN_BUCKET, LEAKY_BUCKET ->
          new Bucket(admitted, policy, resolutionNanos, mostFineNanos, exact);
      case CONCURRENCY ->
          throw new IllegalArgumentException("concurrency: has an oracle of its own");
    };
  }

  private static long multiple(String name, long nanos, long resolutionNanos) {
    if (Math.floorMod(nanos, resolutionNanos) != 0) {
      throw new IllegalArgumentException(
          name + ": " + nanos + " ns (expected: a multiple of " + resolutionNanos + " ns)");
    }
    return nanos;
  }

  /**
   * Decides a request, and counts its permits if it is admitted.
   *
   * @throws IllegalArgumentException if the time is no multiple of the resolution
   */
  public final Verdict decide(String key, long nowNanos, long permits) {
    return decide(key, nowNanos, permits, true);
  }

  /** Decides a request without counting it. */
  public final Verdict peek(String key, long nowNanos, long permits) {
    return decide(key, nowNanos, permits, false);
  }

  private Verdict decide(String key, long now, long permits, boolean charge) {
    List<Admission> past = admitted.computeIfAbsent(key, k -> new ArrayList<>());
    long at = effectiveNanos(past, multiple("now", now, resolution));
    Room room = room(past);
    if (permits == 0 || room.at(at) >= permits) {
      if (permits > 0 && charge) {
        forget(past, at);
        past.add(new Admission(at, permits, costNanos(permits), beginNanos(past, at)));
        room = room(past);
      }
      return new Verdict(true, remaining(room.at(at)), 0);
    }
    boolean never = permits > policy.burst() || limit == 0;
    long retry = never ? Decision.NEVER : firstFit(room, at, permits) - now;
    return new Verdict(false, remaining(room.at(at)), retry);
  }

  /**
   * Counts the permits of a report whatever is left. It is allowed if nothing is owed after it; the
   * retry-after is that of one permit. A report of 0 permits is allowed if a permit is left.
   */
  public final Verdict report(String key, long now, long permits) {
    List<Admission> past = admitted.computeIfAbsent(key, k -> new ArrayList<>());
    long at = effectiveNanos(past, multiple("now", now, resolution));
    boolean fits = room(past).at(at) >= Math.max(1, permits) && permits <= policy.burst();
    if (permits > 0) {
      forget(past, at);
      long cost = limit == 0 ? 0 : costNanos(permits);
      past.add(new Admission(at, permits, cost, beginNanos(past, at)));
    }
    Room room = room(past);
    boolean never = policy.burst() == 0 || limit == 0;
    long retry = fits ? 0 : never ? Decision.NEVER : firstFit(room, at, 1) - now;
    long left = Math.min(room.at(at), limit == 0 ? 0 : policy.burst());
    return new Verdict(fits, permits == 0 ? Math.max(0, left) : left, retry);
  }

  private static long beginNanos(List<Admission> past, long at) {
    return past.isEmpty() ? at : past.get(0).beginNanos();
  }

  private long remaining(long room) {
    return Math.max(0, Math.min(room, limit == 0 ? 0 : policy.burst()));
  }

  /**
   * Returns the first instant after {@code at} at which {@code wanted} permits fit; room only grows
   * with time.
   */
  private long firstFit(Room room, long at, long wanted) {
    long no = 0;
    // A power of two of steps, so that halving stays on them; most requests fit at about this time.
    long yes = resolution * Long.highestOneBit(window / resolution);
    while (room.at(at + yes) < wanted) {
      no = yes;
      yes = Math.multiplyExact(2, yes);
    }
    while (yes - no > resolution) {
      long middle = (no + yes) >>> 1;
      if (room.at(at + middle) < wanted) {
        no = middle;
      } else {
        yes = middle;
      }
    }
    return at + yes;
  }

  /** Returns the instant at which a request at {@code now} is decided. */
  long effectiveNanos(List<Admission> past, long now) {
    long at = now;
    for (Admission admission : past) {
      at = Math.max(at, admission.atNanos());
    }
    return at;
  }

  /** Returns the time that a bucket takes to get permits back. */
  long costNanos(long permits) {
    return 0;
  }

  /** Drops admissions that no longer matter once permits are admitted at {@code at}. */
  abstract void forget(List<Admission> past, long at);

  abstract Room room(List<Admission> past);

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  private static BigInteger ceilDiv(BigInteger value, BigInteger divisor) {
    BigInteger[] parts = value.divideAndRemainder(divisor);
    return parts[1].signum() == 0 ? parts[0] : parts[0].add(BigInteger.ONE);
  }

  /** An oracle that counts each admission for a window. */
  private abstract static class LogOracle extends Oracle {
    LogOracle(
        Map<String, List<Admission>> admitted, Policy policy, long resolutionNanos, boolean exact) {
      super(admitted, policy, resolutionNanos, exact);
    }

    /** Returns the instants from which admissions count for a window, in their order. */
    abstract long[] counts(List<Admission> past);

    @Override
    final void forget(List<Admission> past, long at) {
      long[] counts = counts(past);
      for (int i = counts.length - 1; i >= 0; i--) {
        if (counts[i] <= at - window) {
          past.remove(i);
        }
      }
    }

    @Override
    final Room room(List<Admission> past) {
      long[] counts = counts(past);
      return at -> {
        long used = 0;
        for (int i = 0; i < counts.length; i++) {
          if (counts[i] > at - window) {
            used = Math.addExact(used, past.get(i).permits());
          }
        }
        return limit - used;
      };
    }
  }

  /** An oracle of the exact sliding window, where a granule is one instant, and of buckets. */
  private static final class SlidingOracle extends LogOracle {
    private final long granule;

    SlidingOracle(
        Map<String, List<Admission>> admitted,
        Policy policy,
        long granuleNanos,
        long resolutionNanos,
        boolean exact) {
      super(admitted, policy, resolutionNanos, exact);
      this.granule = multiple("granule", granuleNanos, resolutionNanos);
    }

    @Override
    long[] counts(List<Admission> past) {
      return past.stream().mapToLong(this::lastNanos).toArray();
    }

    /**
     * Returns the last instant of an admission's granule: it counts while that is in the window.
     */
    private long lastNanos(Admission admission) {
      long offset = Math.floorMod(admission.atNanos(), granule);
      return admission.atNanos() - offset + granule - resolution;
    }
  }

  /**
   * An oracle of the log of small limits: granules of 1, 2 or 5 times a power of ten nanoseconds,
   * at most a 5,000th of the window, of which the first begins with the first admission since
   * nothing was counted. The permits of the newest granule count from its latest admission, those
   * of the others from its end.
   */
  private static final class CompactOracle extends LogOracle {
    private final long granule;

    CompactOracle(Map<String, List<Admission>> admitted, Policy policy, long resolutionNanos) {
      super(admitted, policy, resolutionNanos, false);
      String most = Long.toString(Math.max(1, window / 5_000));
      char first = most.charAt(0);
      String rounded = first >= '5' ? "5" : first >= '2' ? "2" : "1";
      this.granule = Long.parseLong(rounded + "0".repeat(most.length() - 1));
    }

    private BigInteger granuleOf(Admission admission) {
      return ceilDiv(big(admission.atNanos() - admission.beginNanos()), big(granule));
    }

    @Override
    long[] counts(List<Admission> past) {
      long[] counts = new long[past.size()];
      for (int i = 0; i < counts.length; i++) {
        Admission newest = past.get(counts.length - 1);
        Admission own = past.get(i);
        counts[i] =
            granuleOf(own).equals(granuleOf(newest))
                ? newest.atNanos()
                : granuleOf(own).multiply(big(granule)).add(big(own.beginNanos())).longValueExact();
      }
      return counts;
    }
  }

  private static final class WeightedOracle extends Oracle {
    WeightedOracle(
        Map<String, List<Admission>> admitted, Policy policy, long resolutionNanos, boolean exact) {
      super(admitted, policy, resolutionNanos, exact);
    }

    private long startNanos(long at) {
      return at - Math.floorMod(at, window);
    }

    @Override
    void forget(List<Admission> past, long at) {
      long previous = startNanos(at) - window;
      past.removeIf(admission -> admission.atNanos() < previous);
    }

    @Override
    Room room(List<Admission> past) {
      return at -> {
        long start = startNanos(at);
        long current = 0;
        long previous = 0;
        for (Admission admission : past) {
          if (admission.atNanos() >= start) {
            current = Math.addExact(current, admission.permits());
          } else if (admission.atNanos() >= start - window) {
            previous = Math.addExact(previous, admission.permits());
          }
        }
        BigInteger covered = big(start + window - at);
        long share = ceilDiv(big(previous).multiply(covered), big(window)).longValueExact();
        return limit - current - share;
      };
    }
  }

  private static final class FixedOracle extends Oracle {
    /** The window of the latest admission, and the permits admitted in it. */
    private record Latest(long endNanos, long used) {}

    FixedOracle(
        Map<String, List<Admission>> admitted, Policy policy, long resolutionNanos, boolean exact) {
      super(admitted, policy, resolutionNanos, exact);
    }

    private Latest latest(List<Admission> past) {
      long end = Long.MIN_VALUE;
      long used = 0;
      for (Admission admission : past) {
        long time = admission.atNanos();
        if (end <= time) {
          end = time - Math.floorMod(time, window) + window;
          used = 0;
        }
        used = Math.addExact(used, admission.permits());
      }
      return new Latest(end, used);
    }

    @Override
    void forget(List<Admission> past, long at) {
      if (latest(past).endNanos() <= at) {
        past.clear();
      }
    }

    @Override
    Room room(List<Admission> past) {
      Latest latest = latest(past);
      return at -> latest.endNanos() > at ? limit - latest.used() : limit;
    }
  }

  /**
   * An oracle of a bucket that refills by one permit each emission interval: the window's share,
   * rounded up.
   */
  private static final class Bucket extends Oracle {
    private final BigInteger mostFine;

    Bucket(
        Map<String, List<Admission>> admitted,
        Policy policy,
        long resolutionNanos,
        long mostFineNanos,
        boolean exact) {
      super(admitted, policy, resolutionNanos, exact);
      mostFine = big(mostFineNanos);
    }

    private long emissionNanos() {
      BigInteger fine = ceilDiv(big(window), big(limit));
      BigInteger most = fine.multiply(big(policy.burst())).max(big(window));
      BigInteger unit = most.compareTo(mostFine) > 0 ? big(resolution) : BigInteger.ONE;
      return ceilDiv(fine, unit).multiply(unit).longValueExact();
    }

    @Override
    long effectiveNanos(List<Admission> past, long now) {
      return now;
    }

    @Override
    long costNanos(long permits) {
      return Math.multiplyExact(emissionNanos(), permits);
    }

    /** Returns the instant at which the bucket is full again. */
    private static long fullNanos(List<Admission> past) {
      long full = Long.MIN_VALUE;
      for (Admission admission : past) {
        full = Math.addExact(Math.max(full, admission.atNanos()), admission.costNanos());
      }
      return full;
    }

    @Override
    void forget(List<Admission> past, long at) {
      if (fullNanos(past) <= at) {
        past.clear();
      }
    }

    @Override
    Room room(List<Admission> past) {
      if (limit == 0) {
        return at -> 0;
      }
      long emission = emissionNanos();
      long depth = Math.multiplyExact(emission, policy.burst());
      long full = fullNanos(past);
      return at -> Math.floorDiv(depth - (full > at ? Math.subtractExact(full, at) : 0), emission);
    }
  }

  /**
   * Returns the most permits that a policy's algorithm may ever admit to one key in any half-open
   * window of the quota's length.
   */
  public static long bound(Policy policy) {
    long permits = policy.quota().permits();
    Algorithm algorithm = policy.algorithm();
    if (permits == 0 || algorithm.strict()) {
      return permits;
    }
    return switch (algorithm) {
      case SLIDING_WINDOW_COUNTER -> 2 * permits - 1;
      case FIXED_WINDOW -> 2 * permits;
      default -> policy.burst() == 0 ? 0 : policy.burst() + permits - 1;
    };
  }
}
