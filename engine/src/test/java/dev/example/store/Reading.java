package dev.example.store;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Shape;
import java.math.BigInteger;
import java.util.List;

/** The reading of a policy for a key at an instant, computed from all admissions of the key. */
final class Reading {
  private final Policy policy;
  private final Shape shape;
  private final Algorithm algorithm;
  private final long window;
  private final long limit;
  private final List<Admission> past;
  private final long at;

  /**
   * Creates a reading at {@code now}, or later: time never goes back for a key. A bucket needs no
   * such rule, see {@link #fullNanos}.
   */
  Reading(Policy policy, List<Admission> past, long now) {
    this.policy = policy;
    this.past = past;
    shape = policy.shape();
    algorithm = shape.algorithm();
    window = shape.windowNanos();
    limit = policy.quota().permits();
    long latest = now;
    if (!algorithm.bucket()) {
      for (Admission each : past) {
        latest = Math.max(latest, each.atNanos());
      }
    }
    at = latest;
  }

  long atNanos() {
    return at;
  }

  long remaining() {
    return Math.max(0, balance());
  }

  /** Returns what remains; minus the debt, if more is counted than fits. */
  long balance() {
    return Math.min(room(at), limit == 0 ? 0 : policy.burst());
  }

  /** Returns how long until the permits fit beside others of the same request. */
  long waitNanos(long permits, long also) {
    if (permits == 0) {
      return 0;
    }
    if (permits > policy.burst() - also || limit == 0) {
      return Decision.NEVER;
    }
    long wanted = permits + also;
    if (room(at) >= wanted) {
      return 0;
    }
    long no = 0;
    long yes = Long.highestOneBit(window);
    while (room(at + yes) < wanted) {
      no = yes;
      yes = yes < 1L << 61 ? 2 * yes : Long.MAX_VALUE - Math.max(0, at);
    }
    while (yes - no > 1) {
      long middle = (no + yes) >>> 1;
      if (room(at + middle) < wanted) {
        no = middle;
      } else {
        yes = middle;
      }
    }
    return yes;
  }

  /** Returns how many permits fit at an instant, negative if too many have been admitted. */
  private long room(long then) {
    return switch (algorithm) {
      case TOKEN_BUCKET, LEAKY_BUCKET -> bucketRoom(then);
      case SLIDING_WINDOW_COUNTER -> counterRoom(then);
      default -> limit - countedAt(then);
    };
  }

  private long countedAt(long then) {
    long counted = 0;
    for (Admission each : past) {
      counted += untilNanos(each) > then ? each.permits() : 0;
    }
    return counted;
  }

  /** Returns the instant from which a window no longer counts an admission. */
  private long untilNanos(Admission each) {
    long time = each.atNanos();
    return switch (algorithm) {
      case SLIDING_WINDOW, SLIDING_WINDOW_LOG -> time + window;
      case SLIDING_WINDOW_BUCKETS -> {
        long granule = shape.granularityNanos();
        yield time - Math.floorMod(time, granule) + granule - 1 + window;
      }
      case FIXED_WINDOW -> time - Math.floorMod(time, window) + window;
      default -> time - Math.floorMod(time, window) + 2 * window;
    };
  }

  private long counterRoom(long then) {
    long start = then - Math.floorMod(then, window);
    long current = 0;
    long previous = 0;
    for (Admission each : past) {
      if (each.atNanos() >= start) {
        current += each.permits();
      } else if (each.atNanos() >= start - window) {
        previous += each.permits();
      }
    }
    BigInteger covered = BigInteger.valueOf(previous).multiply(big(start + window - then));
    long share = covered.add(big(window - 1)).divide(big(window)).longValueExact();
    return limit - current - share;
  }

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  /** Returns the time that one permit of a policy takes to refill, rounded up; 0 for none. */
  private static long emissionNanos(Policy policy) {
    long permits = policy.quota().permits();
    return permits == 0 ? 0 : (policy.quota().windowNanos() + permits - 1) / permits;
  }

  private long bucketRoom(long then) {
    long emission = emissionNanos(policy);
    long depth = emission * policy.burst();
    long full = fullNanos(past.size());
    return emission == 0 ? 0 : Math.floorDiv(depth - (full > then ? full - then : 0), emission);
  }

  /**
   * Returns the instant at which the bucket is full again after the first {@code count} admissions.
   */
  private long fullNanos(int count) {
    long full = Long.MIN_VALUE;
    for (Admission each : past.subList(0, count)) {
      // A permit of a bucket costs what it did when it was admitted; one of a window at least that
      // much.
      long own = emissionNanos(each.policy());
      boolean sameKind = each.policy().algorithm().bucket();
      long here = emissionNanos(policy);
      long cost =
          sameKind
              ? own * each.permits()
              : Math.min(Math.max(own, here) * each.permits(), here * policy.burst());
      full = Math.max(full, each.atNanos()) + cost;
    }
    return full;
  }

  /** Returns whether admission {@code i} can be given back: for a bucket, only the last one. */
  boolean counts(int i) {
    return algorithm.bucket()
        ? i == past.size() - 1 && fullNanos(past.size()) > at
        : untilNanos(past.get(i)) > at;
  }

  /** Returns how long until the key resets. */
  long resetAfterNanos() {
    long reset = at;
    if (algorithm.bucket()) {
      reset = Math.max(reset, fullNanos(past.size()));
    } else {
      for (Admission each : past) {
        reset = Math.max(reset, untilNanos(each));
      }
    }
    return reset - at;
  }
}
