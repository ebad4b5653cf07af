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

  /** The receiver of a mark that is new to this process, with the store's time. */
  interface MarkReceiver {
    void accept(Mark mark, long nowMicros);
  }

  private final byte[] bytes;
  private final MarkReceiver marks;
  private @Nullable MessageReader numbers;

  RedisReply(byte[] bytes, MarkReceiver marks) {
    this.bytes = bytes;
    this.marks = marks;
  }

  @Override
  public long nowNanos() {
    long nowMicros = number();
    if (number() != 0) {
      marks.accept(new Mark(number(), number(), number()), nowMicros);
    }
    return nowMicros * NANOS_PER_MICRO;
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
