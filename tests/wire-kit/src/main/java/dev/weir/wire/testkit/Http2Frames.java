package dev.weir.wire.testkit;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** HTTP/2 byte by byte, for clients that may break its rules. [RFC 9113] */
public final class Http2Frames {
  /** The first bytes of a client; its settings come next. */
  public static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  public static final int DATA = 0;
  public static final int HEADERS = 1;
  public static final int RST_STREAM = 3;
  public static final int SETTINGS = 4;
  public static final int PING = 6;
  public static final int GOAWAY = 7;
  public static final int WINDOW_UPDATE = 8;

  /** The flag of DATA and HEADERS that marks the last frame of its stream. */
  public static final int END_STREAM = 1;

  /** The flag of SETTINGS and PING that marks an acknowledgement. */
  public static final int ACK = 1;

  /** The flag of HEADERS that means that no CONTINUATION follows. */
  public static final int END_HEADERS = 4;

  /** The number of bytes before the payload of a frame. */
  public static final int HEAD_BYTES = 9;

  /** The most bytes of a payload that every server accepts. */
  public static final int MAX_FRAME = 16_384;

  private Http2Frames() {}

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

  /** Opens a connection on which the server writes all header fields out, each time. */
  public static void open(Socket socket) throws IOException {
    byte[] noTable = {0, 1, 0, 0, 0, 0}; // SETTINGS_HEADER_TABLE_SIZE 0 [RFC 9113, 6.5.2]
    socket.getOutputStream().write(PREFACE);
    socket.getOutputStream().write(frame(SETTINGS, 0, 0, noTable));
  }

  /** Returns a gRPC message that announces {@code says} bytes, but has fewer. */
  public static byte[] halfMessage(int says, int has) {
    return message(new byte[has], says);
  }

  /** Returns a whole gRPC message. */
  public static byte[] message(byte[] bytes) {
    return message(bytes, bytes.length);
  }

  /** Returns a gRPC message that announces {@code says} bytes, perhaps without the last of them. */
  public static byte[] message(byte[] bytes, int says) {
    return ByteBuffer.allocate(5 + bytes.length).put((byte) 0).putInt(says).put(bytes).array();
  }

  /** Returns the frames that carry those bytes, none of them the stream's last. */
  public static List<byte[]> data(int stream, byte[] bytes) {
    List<byte[]> frames = new ArrayList<>();
    for (int at = 0; at < bytes.length; at += MAX_FRAME) {
      int to = Math.min(bytes.length, at + MAX_FRAME);
      frames.add(frame(DATA, 0, stream, Arrays.copyOfRange(bytes, at, to)));
    }
    return frames;
  }

  /** Reads until the server has sent a text, or closes; returns everything that it sent. */
  public static String until(Socket socket, String text) throws IOException {
    StringBuilder read = new StringBuilder();
    try {
      for (int c = socket.getInputStream().read(); c >= 0; c = socket.getInputStream().read()) {
        read.append((char) c);
        if (c == text.charAt(text.length() - 1) && read.indexOf(text) >= 0) {
          int more = Math.min(200, socket.getInputStream().available());
          byte[] rest = socket.getInputStream().readNBytes(more);
          return read.append(new String(rest, StandardCharsets.ISO_8859_1)).toString();
        }
      }
    } catch (SocketException e) {
      return read.toString(); // A reset is also a way to close.
    }
    return read.toString();
  }

  /** Returns whether one of the frames is of that type. */
  public static boolean has(byte[] frames, int type) {
    ByteBuffer buffer = ByteBuffer.wrap(frames);
    while (buffer.remaining() >= 9) {
      int length = ((buffer.get() & 0xFF) << 16) | (buffer.getShort() & 0xFFFF);
      int found = buffer.get();
      buffer.position(buffer.position() + 5);
      if (found == type) {
        return true;
      }
      buffer.position(Math.min(buffer.limit(), buffer.position() + length));
    }
    return false;
  }
}
