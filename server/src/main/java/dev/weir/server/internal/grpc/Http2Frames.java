package dev.weir.server.internal.grpc;

import java.nio.ByteBuffer;

/**
 * The scanner of the frames that a client sends on an HTTP/2 connection, which finds the unfinished
 * ones. [RFC 9113, 3.4 and 4.1] Confined to one event loop.
 */
final class Http2Frames {
  private static final int PREFACE_BYTES = 24;
  private static final int HEADER_BYTES = 9;
  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int CONTINUATION = 9;
  private static final int END_STREAM = 1;
  private static final int END_HEADERS = 4;

  /** The size below which data is a small piece of a message: a message's own head has 5 bytes. */
  private static final int SMALL_DATA_BYTES = 16;

  private int skip = PREFACE_BYTES;
  private int headerAt;
  private int length;
  private int type;
  private int flags;
  private int payloadLeft;
  private int block;
  private int small;
  private int ended;

  /** Processes bytes that have arrived. */
  void read(ByteBuffer in) {
    while (in.hasRemaining()) {
      if (skip > 0) {
        skip -= take(in, skip);
      } else if (headerAt < HEADER_BYTES) {
        header(in.get() & 0xFF);
      } else {
        payloadLeft -= take(in, payloadLeft);
        if (payloadLeft == 0) {
          end();
        }
      }
    }
  }

  private static int take(ByteBuffer in, int most) {
    int taken = Math.min(most, in.remaining());
    in.position(in.position() + taken);
    return taken;
  }

  private void header(int b) {
    switch (headerAt++) {
      case 0 -> length = b;
      case 1, 2 -> length = length << 8 | b;
      case 3 -> type = b;
      case 4 -> flags = b;
      case HEADER_BYTES - 1 -> {
        payloadLeft = length;
        if (length == 0) {
          end();
        }
      }
      default -> {} // The number of the stream is not used.
    }
  }

  private void end() {
    headerAt = 0;
    ended++;
    if (type == HEADERS || type == CONTINUATION) {
      block = (flags & END_HEADERS) != 0 ? 0 : block + HEADER_BYTES + length;
    } else if (type == DATA && (flags & END_STREAM) == 0 && length < SMALL_DATA_BYTES) {
      small++;
    }
  }

  /** Returns the bytes that are kept of unfinished frames or header fields. */
  int unfinished() {
    int frame = headerAt == HEADER_BYTES ? HEADER_BYTES + length - payloadLeft : headerAt;
    return block + frame;
  }

  /** Returns the number of complete frames. */
  int ended() {
    return ended;
  }

  /** Returns whether header fields have begun and not ended. */
  boolean inHeaders() {
    return block > 0;
  }

  /** Returns the number of small pieces of messages, without those cancelled. */
  int small() {
    return small;
  }

  /** Cancels that many small pieces. */
  void forget(int pieces) {
    small -= Math.min(small, pieces);
  }
}
