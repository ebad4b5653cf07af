package dev.weir.protocol.http;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiConsumer;
import java.util.function.LongUnaryOperator;

/**
 * The header fields by which a refusal says when to come back: {@code Retry-After} (RFC 9110,
 * section 10.2.3), whole seconds, at least 1, and never earlier than the truth unless a bound is
 * set. Immutable and safe to share.
 */
public final class RetryFields {
  /** The largest bound of {@code Retry-After}. */
  public static final Duration LARGEST_BOUND = Duration.ofDays(366);

  /** The largest random part. */
  public static final Duration LARGEST_JITTER = Duration.ofHours(1);

  /** The fields without a bound and without a random part. */
  public static final RetryFields EXACT = of(Duration.ZERO, Duration.ZERO);

  /** More seconds than any wait. */
  private static final long NEVER = Long.MAX_VALUE;

  private static final String RETRY_AFTER = "Retry-After";
  private static final String SHOULD_RETRY = "x-should-retry";

  /** The wait from which clients of language models had better not wait inside a call. */
  private static final long LONG_SECONDS = 60;

  private final long mostSeconds;
  private final long jitterSeconds;

  /** The wait from which a refusal says that a retry is of no use. */
  private final long uselessSeconds;

  /** Returns a random number from 0 to a number, both included. */
  private final LongUnaryOperator random;

  RetryFields(long mostSeconds, long jitterSeconds, LongUnaryOperator random) {
    this(mostSeconds, jitterSeconds, mostSeconds == 0 ? NEVER : mostSeconds + 1, random);
  }

  private RetryFields(
      long mostSeconds, long jitterSeconds, long uselessSeconds, LongUnaryOperator random) {
    this.mostSeconds = mostSeconds;
    this.jitterSeconds = jitterSeconds;
    this.uselessSeconds = uselessSeconds;
    this.random = random;
  }

  /**
   * Returns the fields.
   *
   * @param most the longest {@code Retry-After}, rounded up to whole seconds, at most {@link
   *     #LARGEST_BOUND}; zero for no bound. A refusal that holds for longer has that number, and
   *     {@code x-should-retry: false}
   * @param jitter the longest random part that is added, rounded down to whole seconds, at most
   *     {@link #LARGEST_JITTER}; zero for none
   * @throws IllegalArgumentException if one is out of its range
   */
  public static RetryFields of(Duration most, Duration jitter) {
    check("maxRetryAfter", most, LARGEST_BOUND);
    check("retryJitter", jitter, LARGEST_JITTER);
    return new RetryFields(
        most.plusNanos(999_999_999).toSeconds(),
        jitter.toSeconds(),
        bound -> ThreadLocalRandom.current().nextLong(bound + 1));
  }

  /**
   * Returns the fields that go with a form of answers: with {@link OlderFields#OPENAI}, a refusal
   * that holds for a minute or longer has {@code x-should-retry: false}. Clients of language models
   * sleep inside the call for as long as {@code Retry-After} says, and raise their error at once at
   * this field.
   */
  public RetryFields with(OlderFields older) {
    return older == OlderFields.OPENAI
        ? new RetryFields(
            mostSeconds, jitterSeconds, Math.min(LONG_SECONDS, uselessSeconds), random)
        : this;
  }

  private static void check(String name, Duration time, Duration largest) {
    if (time.isNegative() || time.compareTo(largest) > 0) {
      throw new IllegalArgumentException(
          name + ": " + time + " (expected: " + Duration.ZERO + ".." + largest + ")");
    }
  }

  /**
   * Adds the fields of a refusal.
   *
   * @param retryAfterSeconds the wait, at least 1; {@link Standing#NO_TIME} if none helps
   */
  public void add(
      long retryAfterSeconds, BiConsumer<? super CharSequence, ? super CharSequence> to) {
    boolean useless =
        retryAfterSeconds == Standing.NO_TIME
            ? uselessSeconds != NEVER
            : retryAfterSeconds >= uselessSeconds;
    if (retryAfterSeconds != Standing.NO_TIME) {
      to.accept(RETRY_AFTER, Long.toString(seconds(retryAfterSeconds)));
    }
    if (useless) {
      to.accept(SHOULD_RETRY, "false");
    }
  }

  /**
   * Returns the number in the field.
   *
   * @param retryAfterSeconds at least 1
   */
  public long seconds(long retryAfterSeconds) {
    long random = jitterSeconds == 0 ? 0 : this.random.applyAsLong(jitterSeconds);
    long later = retryAfterSeconds + random;
    return mostSeconds > 0 ? Math.min(mostSeconds, later) : later;
  }
}
