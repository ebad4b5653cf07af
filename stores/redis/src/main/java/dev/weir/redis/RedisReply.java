package dev.weir.redis;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;
import org.jspecify.annotations.Nullable;

/** The reply of the script, in the form that {@code begin.lua} describes. */
final class RedisReply implements Reply {
  private static final long NANOS_PER_MICRO = 1_000;

  private static final Reason[] CODES = {
    Reason.WITHIN_LIMIT, Reason.OVER_LIMIT, Reason.INVALID, Reason.UNCERTAIN
  };

  private final byte[] bytes;
  private @Nullable MessageReader numbers;

  RedisReply(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public long nowNanos() {
    return number() * NANOS_PER_MICRO;
  }

  @Override
  public long number() {
    MessageReader reading = numbers;
    if (reading == null) {
      reading = new MessageReader(bytes);
      numbers = reading;
    }
    return reading.number();
  }

  @Override
  public Result result() {
    long code = number();
    if (code < 0 || code >= CODES.length) {
      throw new IllegalArgumentException("reply: code " + code + " (expected: 0..3)");
    }
    Reason reason = CODES[(int) code];
    long remaining = number();
    long retry = number();
    long reset = nanos(number());
    long fraction = number();
    long at = nanos(number());
    return new Result(
        reason,
        remaining,
        retry < 0 ? Decision.NEVER : nanos(retry),
        reset == Decision.NEVER ? reset : reset + fraction,
        at);
  }

  /** Returns microseconds as nanoseconds, or {@link Decision#NEVER} if they are too many. */
  private static long nanos(long micros) {
    return micros > Decision.NEVER / NANOS_PER_MICRO ? Decision.NEVER : micros * NANOS_PER_MICRO;
  }
}
