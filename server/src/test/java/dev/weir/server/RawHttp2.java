package dev.weir.server;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** HTTP/2 byte by byte, for clients that need not keep to it. [RFC 9113] */
public final class RawHttp2 {
  /** What a client begins with; its settings come next. */
  public static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;

  /** A flag of DATA and HEADERS: the last of its stream. */
  public static final int END_STREAM = 1;

  /** A flag of SETTINGS and PING: the answer to one. */
  public static final int ACK = 1;

  /** A flag of HEADERS: no CONTINUATION follows. */
  public static final int END_HEADERS = 4;

  /** Bytes before the payload of a frame. */
  public static final int HEAD_BYTES = 9;

  private RawHttp2() {}

  /** Returns a frame. */
  public static byte[] frame(int type, int flags, int stream, byte[] payload) {
    return ByteBuffer.allocate(HEAD_BYTES + payload.length)
        .put((byte) (payload.length >>> 16))
        .putShort((short) payload.length)
        .put((byte) type)
        .put((byte) flags)
        .putInt(stream)
        .put(payload)
        .array();
  }

  /**
   * Returns the header fields of a gRPC call, none of them compressed. [RFC 7541, 6.2.2]
   *
   * @param more names and values in turn
   */
  public static byte[] headers(String path, String... more) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    List<String> fields =
        new ArrayList<>(
            List.of(
                ":method",
                "POST",
                ":scheme",
                "http",
                ":path",
                path,
                ":authority",
                "localhost",
                "content-type",
                "application/grpc",
                "te",
                "trailers"));
    fields.addAll(List.of(more));
    for (int i = 0; i < fields.size(); i += 2) {
      block.write(0);
      for (String text : fields.subList(i, i + 2)) {
        length(block, text.length());
        block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
      }
    }
    return block.toByteArray();
  }

  /** Writes an integer with a prefix of 7 bits. [RFC 7541, 5.1] */
  private static void length(ByteArrayOutputStream block, int value) {
    if (value < 127) {
      block.write(value);
      return;
    }
    block.write(127);
    int rest = value - 127;
    for (; rest >= 128; rest >>>= 7) {
      block.write((rest & 127) | 128);
    }
    block.write(rest);
  }
}
