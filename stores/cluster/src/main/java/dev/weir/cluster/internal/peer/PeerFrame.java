package dev.weir.cluster.internal.peer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.CorruptedFrameException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * A frame of a connection between members: {int length of what follows, byte kind, long call,
 * payload}, big endian.
 *
 * @param call chosen by the sender of a request, repeated in the reply
 */
@SuppressWarnings("ArrayRecordComponent")
public // Never compared.
record PeerFrame(int kind, long call, byte[] payload) {
  /** The kind of the first frame of a connection. */
  static final int HELLO = 0;

  /** The kind of the answer to a hello. */
  static final int WELCOME = 1;

  /** The kind of the answer to a hello with the reason why the connection is closed. */
  static final int REFUSED = 2;

  /** The kind of the reply to a request. */
  static final int REPLY = 3;

  /** The kind of the answer to a request with the reason why there is no reply. */
  static final int FAILED = 4;

  /** The least kind of a request. */
  public static final int FIRST_REQUEST = 16;

  static final int LAST_REQUEST = 127;

  /** The largest frame; a snapshot's chunk, the largest in use, has 16 MB. */
  static final int MAX_BYTES = 64 << 20;

  /** The largest frame of an unauthenticated peer. */
  static final int MAX_HELLO_BYTES = 4_096;

  private static final int HEAD_BYTES = Byte.BYTES + Long.BYTES;

  /** Returns the bytes to send; the payload is not copied. */
  ByteBuf encode() {
    byte[] head =
        ByteBuffer.allocate(Integer.BYTES + HEAD_BYTES)
            .putInt(HEAD_BYTES + payload.length)
            .put((byte) kind)
            .putLong(call)
            .array();
    return Unpooled.wrappedBuffer(head, payload);
  }

  /** A decoder that cuts a stream of bytes into frames. */
  static final class Decoder extends ByteToMessageDecoder {
    private int maxBytes = MAX_HELLO_BYTES;

    /** Allows frames of {@link #MAX_BYTES} from now on. */
    void known() {
      maxBytes = MAX_BYTES;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
      if (in.readableBytes() < Integer.BYTES) {
        return;
      }
      int length = in.getInt(in.readerIndex());
      if (length < HEAD_BYTES || length > maxBytes) {
        in.skipBytes(in.readableBytes());
        throw new CorruptedFrameException(
            "frame of " + length + " bytes (expected: " + HEAD_BYTES + ".." + maxBytes + ")");
      }
      if (in.readableBytes() - Integer.BYTES < length) {
        return;
      }
      in.skipBytes(Integer.BYTES);
      int kind = in.readByte();
      long call = in.readLong();
      byte[] payload = new byte[length - HEAD_BYTES];
      in.readBytes(payload);
      out.add(new PeerFrame(kind, call, payload));
    }
  }
}
