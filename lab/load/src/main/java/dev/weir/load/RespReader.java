package dev.weir.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of Redis replies (RESP2), with a bound on everything in them. */
final class RespReader extends ByteToMessageDecoder {
  private static final int MAX_BYTES = 64 << 10;
  private static final int MAX_DEPTH = 4;
  private static final int MAX_LENGTH = 1_024;

  private long first;
  private @Nullable String error;

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    int from = in.readerIndex();
    first = RespReply.NO_NUMBER;
    error = null;
    if (read(in, 0)) {
      out.add(new RespReply(first, error));
    } else if (in.readableBytes() + (in.readerIndex() - from) > MAX_BYTES) {
      throw new CorruptedFrameException("reply: longer than " + MAX_BYTES + " bytes");
    } else {
      in.readerIndex(from);
    }
  }

  /** Reads a value; returns whether it was complete. */
  private boolean read(ByteBuf in, int depth) {
    if (depth > MAX_DEPTH) {
      throw new CorruptedFrameException("reply: deeper than " + MAX_DEPTH);
    }
    int start = in.readerIndex();
    int end = in.indexOf(start, in.writerIndex(), (byte) '\n');
    if (end < 0) {
      return false;
    }
    if (end - start < 2 || in.getByte(end - 1) != '\r') {
      throw new CorruptedFrameException("reply: a line without CR");
    }
    byte type = in.getByte(start);
    in.readerIndex(end + 1);
    switch (type) {
      case ':' -> keep(number(in, start + 1, end - 1));
      case '+' -> {}
      case '-' -> {
        if (error == null) {
          error = in.toString(start + 1, end - 1 - (start + 1), StandardCharsets.UTF_8);
        }
      }
      case '$' -> {
        long length = number(in, start + 1, end - 1);
        return length < 0 || skip(in, length + 2);
      }
      case '*' -> {
        long length = number(in, start + 1, end - 1);
        if (length > MAX_LENGTH) {
          throw new CorruptedFrameException("reply: array of " + length);
        }
        for (long i = 0; i < length; i++) {
          if (!read(in, depth + 1)) {
            return false;
          }
        }
      }
      default -> throw new CorruptedFrameException("reply: type " + type);
    }
    return true;
  }

  private void keep(long number) {
    if (first == RespReply.NO_NUMBER) {
      first = number;
    }
  }

  private static boolean skip(ByteBuf in, long bytes) {
    if (bytes > MAX_BYTES) {
      throw new CorruptedFrameException("reply: text of " + bytes + " bytes");
    }
    if (in.readableBytes() < bytes) {
      return false;
    }
    in.skipBytes((int) bytes);
    return true;
  }

  private static long number(ByteBuf in, int from, int to) {
    boolean negative = from < to && in.getByte(from) == '-';
    int at = negative ? from + 1 : from;
    if (at == to || to - at > 18) {
      throw new CorruptedFrameException("reply: no number");
    }
    long value = 0;
    for (; at < to; at++) {
      int digit = in.getByte(at) - '0';
      if (digit < 0 || digit > 9) {
        throw new CorruptedFrameException("reply: no number");
      }
      value = value * 10 + digit;
    }
    return negative ? -value : value;
  }
}
