package dev.weir.cluster;

import dev.weir.shared.Reply;
import dev.weir.shared.Result;

/** Reads what {@link ReplyWriter} wrote. Not safe for use by several threads at once. */
final class ClusterReply implements Reply {
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
    return new Result(
        Codes.reason(in.readByte()),
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
      case REFUND, RESET -> {
        long unused = number();
      }
    }
  }
}
