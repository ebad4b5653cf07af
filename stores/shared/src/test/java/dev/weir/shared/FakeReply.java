package dev.weir.shared;

import dev.weir.Decision;
import dev.weir.Reason;

/** A reply of given numbers: a result is six of them, with instants in microseconds. */
public final class FakeReply implements Reply {
  private static final long MICRO = 1_000;
  private static final Reason[] CODES = {
    Reason.WITHIN_LIMIT, Reason.OVER_LIMIT, Reason.INVALID, Reason.UNCERTAIN
  };

  private final long nowNanos;
  private final long[] numbers;
  private int read;

  public FakeReply(long nowNanos, long... numbers) {
    this.nowNanos = nowNanos;
    this.numbers = numbers.clone();
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }

  @Override
  public long number() {
    if (read == numbers.length) {
      throw new IllegalArgumentException("reply: ends early (expected: another number)");
    }
    return numbers[read++];
  }

  @Override
  public Result result() {
    Reason reason = CODES[(int) number()];
    long remaining = number();
    long retry = number();
    long reset = number() * MICRO;
    long fraction = number();
    long at = number() * MICRO;
    return new Result(
        reason, remaining, retry < 0 ? Decision.NEVER : retry * MICRO, reset + fraction, at);
  }
}
