package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A reader of a reply that {@link ReplyWriter} wrote. Not safe for use by several threads at once.
 */
public final class ClusterReply implements Reply {
  /** A mark in place of whether a key was found: it belongs to another group. */
  static final int RESET_MOVED = -1;

  private final ByteReader in;
  private final long nowNanos;
  private long shownNanos;

  public ClusterReply(byte[] reply) {
    in = new ByteReader(reply, 0);
    nowNanos = in.readLong();
    shownNanos = nowNanos;
  }

  /**
   * Makes the reply show at least the time of the latest reply that was read before: replies
   * overtake each other on their way, and a group's time does not go back.
   */
  public ClusterReply after(AtomicLong latestNanos) {
    shownNanos = latestNanos.accumulateAndGet(nowNanos, Math::max);
    return this;
  }

  @Override
  public long nowNanos() {
    return shownNanos;
  }

  @Override
  public long number() {
    return in.readNumber();
  }

  @Override
  public Result result() {
    int code = in.readByte();
    Result result =
        new Result(
            Codes.reason(code),
            in.readNumber(),
            in.readNumber(),
            in.readNumber(),
            nowNanos + in.readNumber());
    return code == Codes.MOVED ? Result.MOVED : result;
  }

  /** Returns the offset of the next part. */
  public int position() {
    return in.position();
  }

  /** Skips the part of the operation that a reader has just read. */
  public void skip(OperationReader operation) {
    switch (operation.kind()) {
      case DECIDE_MANY -> {
        long unused = number();
        for (int i = 0; i < operation.charges(); i++) {
          Result unusedToo = result();
        }
      }
      case DECIDE_ONE -> {
        long unused = number();
        Result unusedToo = result();
      }
      case RECORD -> {
        Result unused = result();
      }
      case REFUND, RESET, RENEW -> {
        long unused = number();
      }
    }
  }
}
