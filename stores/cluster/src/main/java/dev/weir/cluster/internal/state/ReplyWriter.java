package dev.weir.cluster.internal.state;

import dev.weir.Charges;
import dev.weir.Reason;
import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteWriter;

/**
 * A writer of the reply to an entry: the instant at which it was decided, then each operation's
 * part. Not safe for use by several threads at once.
 */
public final class ReplyWriter {
  private final ByteWriter out = new ByteWriter();
  private final long nowNanos;

  public ReplyWriter(long nowNanos) {
    this.nowNanos = nowNanos;
    out.writeLong(nowNanos);
  }

  public ReplyWriter number(long value) {
    out.writeNumber(value);
    return this;
  }

  /** Writes the map in force. */
  ReplyWriter map(ClusterMap map) {
    map.write(out);
    return this;
  }

  /** Writes the result of charge {@code i}. */
  ReplyWriter result(Charges charges, int i) {
    return result(
        charges.reason(i),
        charges.remaining(i),
        charges.retryAfterNanos(i),
        charges.resetAfterNanos(i),
        charges.atNanos(i));
  }

  public ReplyWriter result(
      Reason reason, long remaining, long retryAfterNanos, long resetAfterNanos, long atNanos) {
    out.writeByte(Codes.of(reason))
        .writeNumber(remaining)
        .writeNumber(retryAfterNanos)
        .writeNumber(resetAfterNanos)
        .writeNumber(atNanos - nowNanos);
    return this;
  }

  /** Writes the part of an operation that was not decided in this group. */
  public ReplyWriter moved(OperationReader operation) {
    switch (operation.kind()) {
      case DECIDE_MANY, DECIDE_ONE -> number(0).moved(operation.charges());
      case RECORD -> moved(1);
      case REFUND, RENEW -> number(0); // It is not sent again: the permits are lost, or the seat.
      case RESET -> number(ClusterReply.RESET_MOVED);
    }
    return this;
  }

  private ReplyWriter moved(int results) {
    for (int i = 0; i < results; i++) {
      out.writeByte(Codes.MOVED).writeNumber(0).writeNumber(0).writeNumber(0).writeNumber(0);
    }
    return this;
  }

  /** Writes a part of another reply, which has the same instants. */
  public ReplyWriter copy(byte[] reply, int from, int to) {
    out.copy(reply, from, to);
    return this;
  }

  public byte[] toBytes() {
    return out.toBytes();
  }
}
