package dev.weir.cluster;

import dev.weir.Reason;
import dev.weir.shared.Reply;
import dev.weir.shared.Result;

/** Reads what {@link ReplyWriter} wrote. Not safe for use by several threads at once. */
final class ClusterReply implements Reply {
  private static final Reason[] REASONS = Reason.values();

  private final ByteReader in;
  private final long nowNanos;

  ClusterReply(byte[] reply) {
    in = new ByteReader(reply, 0);
    nowNanos = in.readLong();
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }

  @Override
  public long number() {
    return in.readNumber();
  }

  @Override
  public Result result() {
    int reason = in.readByte();
    if (reason >= REASONS.length) {
      throw new IllegalArgumentException("result: reason " + reason);
    }
    return new Result(
        REASONS[reason],
        in.readNumber(),
        in.readNumber(),
        in.readNumber(),
        nowNanos + in.readNumber());
  }

  /** Returns where the next part begins. */
  int position() {
    return in.position();
  }

  /** Reads past the part of the operation that a reader has just read. */
  void skip(OperationReader operation) {
    switch (operation.kind()) {
      case DECIDE_MANY -> {
        long unused = number();
        for (int i = 0; i < operation.charges(); i++) {
          Result skipped = result();
        }
      }
      case DECIDE_ONE -> {
        long unused = number();
        Result skipped = result();
      }
      case RECORD -> {
        Result skipped = result();
      }
      case REFUND, RESET -> {
        long unused = number();
      }
    }
  }
}
