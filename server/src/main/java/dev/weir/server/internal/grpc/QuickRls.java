package dev.weir.server.internal.grpc;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.LimitBytes;
import dev.weir.server.internal.deciding.QuickDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.RlsMessages;
import dev.weir.server.internal.log.Logs;
import io.grpc.netty.shaded.io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * The quick path for the usual messages of {@code ShouldRateLimit}: those of one descriptor that
 * one limit in this process decides at once. Its answers have the same bytes as those of the
 * general path. Confined to one event loop.
 */
final class QuickRls {
  /** The most bytes of a message; longer ones take the general path. */
  private static final int MAX_BYTES = 4 << 10;

  /** The bytes before a message: a mark of compression, and the length. */
  static final int PREFIX_BYTES = 5;

  private static final byte[] FAILED = {};

  private static final byte[] OK = {1 << 3, 1};
  private static final byte[] OVER = {1 << 3, 2};
  private static final byte STATUSES = 2 << 3 | 2;
  private static final byte CURRENT_LIMIT = 2 << 3 | 2;
  private static final byte REMAINING = 3 << 3;
  private static final byte UNTIL_RESET = 4 << 3 | 2;
  private static final byte SECONDS = 1 << 3;

  private final QuickDecider decider;
  private final LimitBytes limits = new LimitBytes(limit -> RlsMessages.limit(limit).toByteArray());
  private final int maxBytes;
  private final QuickMessage message = new QuickMessage();
  private final ByteText status = new ByteText();
  private final ByteText answer = new ByteText();
  private final byte[] read = new byte[PREFIX_BYTES + MAX_BYTES];

  QuickRls(GuardedDecider decider, RequestTimes times, int maxBodyBytes) {
    this.decider = new QuickDecider(decider, times);
    this.maxBytes = PREFIX_BYTES + Math.min(maxBodyBytes, MAX_BYTES);
  }

  /**
   * Decides a request.
   *
   * @param data one message with its prefix; not changed
   * @return the answer with its prefix; an empty array if the request failed while it was decided,
   *     so that it may be charged; null if nothing has happened
   */
  byte @Nullable [] answer(ByteBuf data) {
    int length = data.readableBytes();
    if (length <= PREFIX_BYTES || length > maxBytes) {
      return null;
    }
    data.getBytes(data.readerIndex(), read, 0, length);
    return read[0] == 0
            && (read[1] | read[2]) == 0
            && ((read[3] & 0xff) << 8 | (read[4] & 0xff)) == length - PREFIX_BYTES
            && message.read(read, PREFIX_BYTES, length)
        ? decide()
        : null;
  }

  private byte @Nullable [] decide() {
    boolean begun = false;
    try {
      CurrentLimit limit = decider.take(message.request());
      if (limit == null) {
        return null;
      }
      byte[] text = limits.of(limit);
      begun = true;
      write(decider.decide(), text);
      return Arrays.copyOf(answer.bytes(), answer.size());
    } catch (RuntimeException e) {
      if (!begun) {
        return null; // The general path sends the error to the client.
      }
      Logs.LOG.log(Level.SEVERE, "grpc: a request failed", e);
      return FAILED;
    }
  }

  /** Writes the answer in the form of the generated classes: fields in order, no zeros. */
  private void write(RequestBatch decided, byte[] limit) {
    status.clear().add(decided.passes(0) ? OK : OVER);
    number(status.octet(CURRENT_LIMIT), limit.length).add(limit);
    int remaining = (int) decided.remaining(0);
    if (remaining != 0) {
      number(status.octet(REMAINING), Integer.toUnsignedLong(remaining));
    }
    long seconds = decided.untilResetSeconds(0);
    if (seconds == 0) {
      status.octet(UNTIL_RESET).octet(0);
    } else {
      number(status.octet(UNTIL_RESET).octet(1 + size(seconds)).octet(SECONDS), seconds);
    }
    int length = OK.length + 1 + size(status.size()) + status.size();
    answer.clear().octet(0).octet(0).octet(length >>> 16).octet(length >>> 8).octet(length);
    answer.add(decided.allowed(0) ? OK : OVER);
    number(answer.octet(STATUSES), status.size()).add(status);
  }

  /** Adds a number of at least 0, seven bits a byte, the lowest first. */
  private static ByteText number(ByteText to, long number) {
    long rest = number;
    for (; rest >= 0x80; rest >>>= 7) {
      to.octet((int) rest | 0x80);
    }
    return to.octet((int) rest);
  }

  private static int size(long number) {
    int size = 1;
    for (long rest = number >>> 7; rest > 0; rest >>>= 7) {
      size++;
    }
    return size;
  }
}
