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
 * What a policy must answer, found the plain way: a list of all admissions, gone through anew for
 * every question, in whole numbers of any size. Slow, and shares no code with the limiter that it
 * judges. Not safe for use by several threads.
 *
 * <p>One question is answered from the list, how many permits fit at an instant; the retry-after is
 * the first instant at which enough of them do, found by halving.
 */
public abstract class Oracle {
  /**
   * The right answer.
   *
   * @param retryAfterNanos as in {@link Decision#retryAfterNanos()}
   */
  public record Verdict(boolean allowed, long remaining, long retryAfterNanos) {}

  /** Permits that were admitted, at the instant they were decided at. */
  record Admission(long atNanos, long permits) {}

  /** How many permits fit at an instant if nothing else is admitted; negative if overdrawn. */
  interface Room {
    BigInteger at(long nanos);
  }

  private final Map<String, List<Admission>> admitted = new HashMap<>();
  final Policy policy;
  final BigInteger limit;
  final long window;

  private Oracle(Policy policy) {
    this.policy = policy;
    this.limit = BigInteger.valueOf(policy.quota().permits());
    this.window = policy.quota().windowNanos();
  }

  /** Returns an oracle of that policy, for keys that nobody has asked about. */
  public static Oracle of(Policy policy) {
    return switch (policy.algorithm()) {
      case SLIDING_WINDOW ->
          policy.quota().permits() <= Policy.LOG_LIMIT
              ? new Sliding(policy, 1)
              : new Sliding(policy, policy.granularityNanos());
      case SLIDING_WINDOW_LOG -> new Sliding(policy, 1);
      case SLIDING_WINDOW_BUCKETS -> new Sliding(policy, policy.granularityNanos());
      case SLIDING_WINDOW_COUNTER -> new Weighted(policy);
      case FIXED_WINDOW -> new Fixed(policy);
      case TOKEN_BUCKET, LEAKY_BUCKET -> new Bucket(policy);
    };
  }

  /** Decides a request, and counts its permits if it is admitted. */
  public final Verdict ask(String key, long nowNanos, long permits) {
    return decide(key, nowNanos, permits, true);
  }

  /** Decides a request without counting it. */
  public final Verdict look(String key, long nowNanos, long permits) {
    return decide(key, nowNanos, permits, false);
  }

  private Verdict decide(String key, long now, long permits, boolean charge) {
    List<Admission> past = admitted.computeIfAbsent(key, k -> new ArrayList<>());
    long at = effectiveNanos(past, now);
    Room room = room(past);
    BigInteger wanted = BigInteger.valueOf(permits);
    if (permits == 0 || room.at(at).compareTo(wanted) >= 0) {
      if (permits > 0 && charge) {
        past.removeIf(admission -> forgettable(admission, at));
        past.add(new Admission(at, permits));
        room = room(past);
      }
      return new Verdict(true, remaining(room.at(at)), 0);
    }
    boolean never = permits > policy.burst() || limit.signum() == 0;
    long retry = never ? Decision.NEVER : firstFit(room, at, wanted) - now;
    return new Verdict(false, remaining(room.at(at)), retry);
  }

  private long remaining(BigInteger room) {
    BigInteger most = BigInteger.valueOf(limit.signum() == 0 ? 0 : policy.burst());
    return room.max(BigInteger.ZERO).min(most).longValueExact();
  }

  /**
   * Returns the first instant after {@code at} at which so much fits; room only grows with time.
   */
  private static long firstFit(Room room, long at, BigInteger wanted) {
    long no = 0;
    long yes = 1;
    while (room.at(at + yes).compareTo(wanted) < 0) {
      no = yes;
      yes = Math.multiplyExact(2, yes);
    }
    while (yes - no > 1) {
      long middle = (no + yes) >>> 1;
      if (room.at(at + middle).compareTo(wanted) < 0) {
        no = middle;
      } else {
        yes = middle;
      }
    }
    return at + yes;
  }

  /** Returns the instant that a request at {@code now} is decided at. */
  long effectiveNanos(List<Admission> past, long now) {
    long at = now;
    for (Admission admission : past) {
      at = Math.max(at, admission.atNanos());
    }
    return at;
  }

  /** Returns whether an admission can matter to nobody who asks at {@code at} or later. */
  boolean forgettable(Admission admission, long at) {
    return admission.atNanos() < at - 3 * window;
  }

  abstract Room room(List<Admission> past);

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  private static BigInteger ceilDiv(BigInteger value, BigInteger divisor) {
    BigInteger[] parts = value.divideAndRemainder(divisor);
    return parts[1].signum() == 0 ? parts[0] : parts[0].add(BigInteger.ONE);
  }

  /** The exact sliding window, where a granule is 1 ns, and buckets. */
  private static final class Sliding extends Oracle {
    private final long granule;

    Sliding(Policy policy, long granuleNanos) {
      super(policy);
      this.granule = granuleNanos;
    }

    @Override
    Room room(List<Admission> past) {
      return at -> {
        BigInteger used = BigInteger.ZERO;
        for (Admission admission : past) {
          // It counts for as long as the last instant of its granule is in the window.
          long offset = Math.floorMod(admission.atNanos(), granule);
          if (admission.atNanos() - offset + granule - 1 > at - window) {
            used = used.add(big(admission.permits()));
          }
        }
        return limit.subtract(used);
      };
    }
  }

  private static final class Weighted extends Oracle {
    Weighted(Policy policy) {
      super(policy);
    }

    @Override
    Room room(List<Admission> past) {
      return at -> {
        long index = Math.floorDiv(at, window);
        BigInteger current = BigInteger.ZERO;
        BigInteger previous = BigInteger.ZERO;
        for (Admission admission : past) {
          long age = index - Math.floorDiv(admission.atNanos(), window);
          if (age == 0) {
            current = current.add(big(admission.permits()));
          } else if (age == 1) {
            previous = previous.add(big(admission.permits()));
          }
        }
        long covered = window - Math.floorMod(at, window);
        BigInteger share = ceilDiv(previous.multiply(big(covered)), big(window));
        return limit.subtract(current).subtract(share);
      };
    }
  }

  private static final class Fixed extends Oracle {
    Fixed(Policy policy) {
      super(policy);
    }

    @Override
    boolean forgettable(Admission admission, long at) {
      return !policy.alignedToFirstRequest() && super.forgettable(admission, at);
    }

    @Override
    Room room(List<Admission> past) {
      BigInteger used = BigInteger.ZERO;
      boolean open = false;
      long start = 0;
      for (Admission admission : past) {
        long time = admission.atNanos();
        if (!open || start + window <= time) {
          start = policy.alignedToFirstRequest() ? time : time - Math.floorMod(time, window);
          used = BigInteger.ZERO;
          open = true;
        }
        used = used.add(big(admission.permits()));
      }
      long end = open ? start + window : Long.MIN_VALUE;
      BigInteger left = limit.subtract(used);
      return at -> end > at ? left : limit;
    }
  }

  /** A bucket that refills by one permit an emission interval, the window's share rounded up. */
  private static final class Bucket extends Oracle {
    Bucket(Policy policy) {
      super(policy);
    }

    @Override
    long effectiveNanos(List<Admission> past, long now) {
      return now;
    }

    @Override
    boolean forgettable(Admission admission, long at) {
      return false;
    }

    @Override
    Room room(List<Admission> past) {
      if (limit.signum() == 0) {
        return at -> BigInteger.ZERO;
      }
      long emission = ceilDiv(big(window), limit).longValueExact();
      long depth = Math.multiplyExact(emission, policy.burst());
      long full = Long.MIN_VALUE;
      for (Admission admission : past) {
        long cost = Math.multiplyExact(emission, admission.permits());
        full = Math.addExact(Math.max(full, admission.atNanos()), cost);
      }
      long fullAt = full;
      return at -> {
        BigInteger missing = big(fullAt).subtract(big(at)).max(BigInteger.ZERO);
        return big(depth).subtract(missing).divide(big(emission));
      };
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
