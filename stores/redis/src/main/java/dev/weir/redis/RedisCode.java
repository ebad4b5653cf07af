package dev.weir.redis;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.Policy;
import dev.weir.shared.PolicyCode;
import dev.weir.shared.SharedBinding;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The encoding of a policy and of its keys for the script. */
final class RedisCode implements PolicyCode {
  /**
   * The longest refill of a full bucket that is counted in nanoseconds; a longer one is counted in
   * microseconds.
   */
  private static final long MOST_TICKS = 1L << 52;

  private static final long NANOS_PER_MICRO = 1_000;

  private static final int LOG = 1;
  private static final int COUNTER = 2;
  private static final int FIXED = 3;
  private static final int TOKEN = 4;
  private static final int LEAKY = 5;
  private static final int SEATS = 8;

  /** The count of those first numbers that select the state. */
  private static final int SHAPE_NUMBERS = 4;

  /** Added to the number of a bucket's algorithm if it is counted in microseconds. */
  private static final int LONG = 2;

  private final byte[] keyPrefix;
  private final long nameBits;
  private final long[] numbers;

  RedisCode(String prefix, String name, Policy policy) {
    keyPrefix = (prefix + ":").getBytes(StandardCharsets.UTF_8);
    nameBits = Fingerprint.shared().of(name);
    numbers = numbers(policy);
  }

  private RedisCode(RedisCode base, long[] numbers) {
    keyPrefix = base.keyPrefix;
    nameBits = base.nameBits;
    this.numbers = numbers;
  }

  /**
   * Returns the encoding of another token bucket on the same state: the usage of a key is the time
   * that its bucket takes to refill. A bucket that is counted in other units than this one has a
   * state of its own, which begins with the charges of this one.
   */
  RedisCode variant(Policy policy) {
    long[] variant = numbers(policy);
    if (variant[0] == numbers[0]) {
      System.arraycopy(numbers, 0, variant, 0, SHAPE_NUMBERS);
    }
    return new RedisCode(this, variant);
  }

  /** Returns the encoding of a binding of a {@link RedisStore}. */
  static RedisCode of(SharedBinding binding) {
    return (RedisCode) binding.code();
  }

  /** Returns a policy as the eight numbers that the script reads. */
  static long[] numbers(Policy policy) {
    long windowNanos = SharedBinding.countedWindowNanos(policy);
    long permits = policy.quota().permits();
    long window = micros(windowNanos);
    Algorithm algorithm = policy.algorithm();
    boolean exact = SharedBinding.countedAlgorithm(policy) == Algorithm.SLIDING_WINDOW_LOG;
    return switch (algorithm) {
      case SLIDING_WINDOW, SLIDING_WINDOW_LOG, SLIDING_WINDOW_BUCKETS ->
          log(window, exact ? 1 : micros(policy.granularityNanos()), permits);
      case SLIDING_WINDOW_COUNTER -> numbers(COUNTER, window, 0, 0, permits);
      case FIXED_WINDOW -> numbers(FIXED, window, 0, 0, permits);
      case TOKEN_BUCKET -> bucket(TOKEN, policy, windowNanos);
      case LEAKY_BUCKET -> bucket(LEAKY, policy, windowNanos);
      case CONCURRENCY -> numbers(SEATS, window, 0, 0, permits);
    };
  }

  private static long[] numbers(int algorithm, long window, long detail, long more, long permits) {
    return new long[] {algorithm, window, detail, more, permits, permits, 0, 0};
  }

  /**
   * Returns the numbers of a log; "more" is the size in bytes of an entry's distance to the next,
   * one bit of which is a mark.
   */
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

  private static long micros(long nanos) {
    return ceilDiv(nanos, NANOS_PER_MICRO);
  }

  private static long ceilDiv(long value, long divisor) {
    return value / divisor + (value % divisor > 0 ? 1 : 0);
  }

  /** Returns the eight numbers of the policy that the script reads. */
  long[] numbers() {
    return numbers;
  }

  @Override
  public String shownKey(long fingerprint) {
    return new String(key(fingerprint), StandardCharsets.UTF_8);
  }

  /** Returns Redis's name of a key: the prefix, and 128 bits as 22 characters. */
  byte[] key(long fingerprint) {
    byte[] bits = ByteBuffer.allocate(16).putLong(nameBits).putLong(fingerprint).array();
    byte[] text = Base64.getUrlEncoder().withoutPadding().encode(bits);
    return ByteBuffer.allocate(keyPrefix.length + text.length).put(keyPrefix).put(text).array();
  }
}
