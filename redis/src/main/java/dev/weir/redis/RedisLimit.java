package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.Policy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A policy in force in a {@link RedisStore}, and how it is told to the script. */
final class RedisLimit implements Limit {
  /** The longest that a full bucket may last, in nanoseconds, to be counted in nanoseconds. */
  private static final long MOST_TICKS = 1L << 52;

  private static final long NANOS_PER_MICRO = 1_000;

  private static final int LOG = 1;
  private static final int COUNTER = 2;
  private static final int FIXED = 3;
  private static final int TOKEN = 4;
  private static final int LEAKY = 5;

  /** Added to the number of a bucket's algorithm: counted in microseconds. */
  private static final int LONG = 2;

  private final RedisStore store;
  private final String name;
  private final Policy policy;
  private final byte[] keyPrefix;
  private final long nameBits;
  private final long[] numbers;

  /**
   * The same policy in this process, for when Redis cannot be asked; null if it has no such answer.
   */
  final @Nullable Limit fallback;

  /** What this process knows of the keys; null where Redis is asked each time. */
  final @Nullable Holdings holdings;

  RedisLimit(
      RedisStore store,
      String prefix,
      String name,
      Policy policy,
      @Nullable Limit fallback,
      @Nullable Holdings holdings) {
    this.store = store;
    this.name = name;
    this.policy = policy;
    this.fallback = fallback;
    this.holdings = holdings;
    keyPrefix = (prefix + ":").getBytes(StandardCharsets.UTF_8);
    nameBits = Fingerprint.shared().of(name);
    numbers = numbers(policy);
  }

  /**
   * Returns the window that Redis counts by. A permit of an allotment may be granted until the
   * allotment's end; where a window begins with each charge, the allotment counts for that much
   * longer. Windows that begin by the clock end the allotment instead.
   */
  private static long windowNanos(Policy policy) {
    boolean aligned =
        policy.algorithm() == Algorithm.FIXED_WINDOW
            || policy.algorithm() == Algorithm.SLIDING_WINDOW_COUNTER;
    long window = policy.quota().windowNanos();
    return policy.consistency() == Consistency.LEASED && !aligned
        ? window + policy.syncIntervalNanos()
        : window;
  }

  /** Returns whether what a process holds under one policy is as good under the other. */
  static boolean sameHoldings(Policy one, Policy other) {
    return one.consistency() == other.consistency()
        && one.syncIntervalNanos() == other.syncIntervalNanos()
        && one.burst() == other.burst()
        && Arrays.equals(numbers(one), numbers(other));
  }

  /** Returns what the script is told of a policy: eight numbers. */
  static long[] numbers(Policy policy) {
    long windowNanos = windowNanos(policy);
    long permits = policy.quota().permits();
    long window = micros(windowNanos);
    Algorithm algorithm = policy.algorithm();
    boolean exact =
        algorithm == Algorithm.SLIDING_WINDOW_LOG
            || (algorithm == Algorithm.SLIDING_WINDOW && permits <= Policy.LOG_LIMIT);
    return switch (algorithm) {
      case SLIDING_WINDOW, SLIDING_WINDOW_LOG, SLIDING_WINDOW_BUCKETS ->
          log(window, exact ? 1 : micros(policy.granularityNanos()), permits);
      case SLIDING_WINDOW_COUNTER -> numbers(COUNTER, window, 0, 0, permits);
      case FIXED_WINDOW ->
          numbers(FIXED, window, policy.alignedToFirstRequest() ? 1 : 0, 0, permits);
      case TOKEN_BUCKET -> bucket(TOKEN, policy, windowNanos);
      case LEAKY_BUCKET -> bucket(LEAKY, policy, windowNanos);
    };
  }

  private static long[] numbers(int algorithm, long window, long detail, long more, long permits) {
    return new long[] {algorithm, window, detail, more, permits, permits, 0, 0};
  }

  /** An entry's distance to the next takes so many bytes; one bit of them is a mark. */
  private static long[] log(long window, long granule, long permits) {
    long mostGranules = 4 * (ceilDiv(window, granule) + 2);
    int bits = Long.SIZE - Long.numberOfLeadingZeros(mostGranules) + 1;
    return numbers(LOG, window, granule, ceilDiv(bits, Byte.SIZE), permits);
  }

  private static long[] bucket(int algorithm, Policy policy, long windowNanos) {
    long permits = policy.quota().permits();
    long burst = policy.burst();
    long emission = permits == 0 ? 0 : ceilDiv(windowNanos, permits);
    boolean ticksAreMicros =
        windowNanos > MOST_TICKS || (emission > 0 && burst > MOST_TICKS / emission);
    long window = micros(windowNanos);
    if (ticksAreMicros) {
      emission = permits == 0 ? 0 : ceilDiv(window, permits);
    }
    boolean shared = burst == permits;
    return new long[] {
      ticksAreMicros ? algorithm + LONG : algorithm,
      window,
      shared ? 0 : emission,
      shared ? 0 : burst,
      permits,
      burst,
      emission,
      emission * burst
    };
  }

  /** Returns a length of time as Redis counts it, in nanoseconds. */
  static long wholeMicros(long nanos) {
    return micros(nanos) * NANOS_PER_MICRO;
  }

  private static long micros(long nanos) {
    return ceilDiv(nanos, NANOS_PER_MICRO);
  }

  private static long ceilDiv(long value, long divisor) {
    return value / divisor + (value % divisor > 0 ? 1 : 0);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Policy policy() {
    return policy;
  }

  RedisStore store() {
    return store;
  }

  /** Returns what the script is told of the policy: eight numbers. */
  long[] numbers() {
    return numbers;
  }

  /** Returns Redis's name of a key: the prefix, and 128 bits as 22 characters. */
  byte[] key(long fingerprint) {
    byte[] bits = ByteBuffer.allocate(16).putLong(nameBits).putLong(fingerprint).array();
    byte[] text = Base64.getUrlEncoder().withoutPadding().encode(bits);
    return ByteBuffer.allocate(keyPrefix.length + text.length).put(keyPrefix).put(text).array();
  }

  @Override
  public String toString() {
    return name + ": " + policy;
  }
}
