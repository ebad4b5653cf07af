package dev.weir.bench;

import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** How {@link WireLoad} asks, and sees that it is answered, without making garbage. */
abstract class WireProtocol {
  /** More than a request takes, with what is written beside it. */
  static final int MOST_BYTES = 1 << 10;

  private static final String DIGITS = "000000";

  static WireProtocol of(String name) {
    return switch (name) {
      case "grpc" -> new Grpc();
      case "json" -> new Http();
      case "resp" -> new Resp();
      default ->
          throw new IllegalArgumentException(
              "protocol: " + name + " (expected: grpc, json or resp)");
    };
  }

  /** Writes what precedes the first request on a connection. */
  void begin(ByteBuffer out) {}

  /** Returns whether the server takes a further request, however many wait for their answers. */
  boolean room(WireLoad.Connection to) {
    return true;
  }

  /** Writes a request with a key of at most six digits. */
  abstract void request(WireLoad.Connection to, int key);

  /**
   * Reports the answers that have arrived, and reads their bytes.
   *
   * @throws IOException if one is no decision
   */
  abstract void answers(WireLoad.Connection from) throws IOException;

  /** Bytes that have six digits in one place. */
  private static final class Template {
    private final byte[] bytes;
    private final int at;

    Template(byte[] bytes) {
      this.bytes = bytes;
      this.at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf(DIGITS);
    }

    Template(String text) {
      this(text.getBytes(StandardCharsets.US_ASCII));
    }

    int length() {
      return bytes.length;
    }

    void write(ByteBuffer out, int key) {
      int rest = key;
      for (int i = DIGITS.length() - 1; i >= 0; i--) {
        bytes[at + i] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
      out.put(bytes);
    }
  }

  private static final class Resp extends WireProtocol {
    private static final int LINES = 6;

    private final Template command =
        new Template(
            "*5\r\n$11\r\nCL.THROTTLE\r\n$11\r\nuser:"
                + DIGITS
                + "\r\n$6\r\n999999\r\n$7\r\n1000000\r\n$2\r\n60\r\n");

    @Override
    void request(WireLoad.Connection to, int key) {
      command.write(to.out, key);
    }

    @Override
    void answers(WireLoad.Connection from) throws IOException {
      ByteBuffer in = from.in;
      int begin = in.position();
      int lines = 0;
      for (int i = begin; i < in.limit(); i++) {
        if (in.get(i) == '\n' && ++lines == LINES) {
          if (in.get(begin) != '*') {
            throw new IOException("an answer of Redis's protocol is no array");
          }
          from.answered(from.answered);
          begin = i + 1;
          lines = 0;
        }
      }
      in.position(begin);
    }
  }

  private static final class Http extends WireProtocol {
    private static final byte[] LENGTH = "\r\ncontent-length: ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Template request;

    Http() {
      String body = Wire.ENVOYS.replace("%d", DIGITS);
      request =
          new Template(
              "POST /json HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                  + "Content-Length: "
                  + body.length()
                  + "\r\n\r\n"
                  + body);
    }

    @Override
    void request(WireLoad.Connection to, int key) {
      request.write(to.out, key);
    }

    @Override
    void answers(WireLoad.Connection from) throws IOException {
      ByteBuffer in = from.in;
      for (int end = after(in, END); end >= 0; end = after(in, END)) {
        int digit = after(in, LENGTH);
        if (digit < 0 || digit > end || in.get(in.position() + 9) != '2') {
          throw new IOException("an answer of HTTP has no length, or is no decision");
        }
        int length = 0;
        for (; in.get(digit) != '\r'; digit++) {
          length = 10 * length + in.get(digit) - '0';
        }
        if (in.limit() < end + length) {
          return;
        }
        in.position(end + length);
        from.answered(from.answered);
      }
    }

    /** Returns where the bytes end for the first time, in either case, or -1. */
    private static int after(ByteBuffer in, byte[] bytes) {
      int found = 0;
      for (int i = in.position(); i < in.limit(); i++) {
        byte next = in.get(i);
        byte lower = next >= 'A' && next <= 'Z' ? (byte) (next + ('a' - 'A')) : next;
        found = lower == bytes[found] ? found + 1 : lower == bytes[0] ? 1 : 0;
        if (found == bytes.length) {
          return i + 1;
        }
      }
      return -1;
    }
  }

  /** Frames of HTTP/2 by hand: their fields are in the connection's table after the first call. */
  private static final class Grpc extends WireProtocol {
    private static final int HEAD_BYTES = 9;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    /** Answers of a run take less than this. */
    private static final int WINDOW = 1 << 30;

    /** Before the server has given more. [RFC 9113, 6.9.2] */
    private static final int FIRST_WINDOW = 65_535;

    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

    /** {@code :method: POST} and {@code :scheme: http} of the static table. [RFC 7541, A] */
    private static final byte[] FIXED = {(byte) 0x83, (byte) 0x86};

    /** The four fields that the first call has put into the table, the last of them first. */
    private static final byte[] KEPT = {
      (byte) 0x83,
      (byte) 0x86,
      (byte) (0x80 | 65),
      (byte) (0x80 | 64),
      (byte) (0x80 | 63),
      (byte) (0x80 | 62)
    };

    private final ByteBuffer fields = ByteBuffer.allocate(256);
    private final Template message;

    Grpc() {
      fields.put(FIXED);
      field(0x40 | 4, "", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
      field(0x40 | 1, "", "127.0.0.1");
      field(0x40 | 31, "", "application/grpc");
      field(0x40, "te", "trailers");
      fields.flip();
      byte[] request =
          RateLimitRequest.newBuilder()
              .setDomain("bench")
              .addDescriptors(
                  RateLimitDescriptor.newBuilder()
                      .addEntries(
                          RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue(DIGITS)))
              .build()
              .toByteArray();
      message =
          new Template(
              ByteBuffer.allocate(5 + request.length)
                  .put((byte) 0)
                  .putInt(request.length)
                  .put(request)
                  .array());
    }

    private void field(int first, String name, String value) {
      fields.put((byte) first);
      if (!name.isEmpty()) {
        fields.put((byte) name.length()).put(name.getBytes(StandardCharsets.US_ASCII));
      }
      fields.put((byte) value.length()).put(value.getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    void begin(ByteBuffer out) {
      out.put(PREFACE.getBytes(StandardCharsets.US_ASCII));
      head(out, 0, SETTINGS, 0, 0);
      head(out, 4, WINDOW_UPDATE, 0, 0);
      out.putInt(WINDOW);
    }

    private static void head(ByteBuffer out, int length, int type, int flags, int stream) {
      out.put((byte) (length >> 16)).putShort((short) length);
      out.put((byte) type).put((byte) flags).putInt(stream);
    }

    @Override
    boolean room(WireLoad.Connection to) {
      return FIRST_WINDOW + to.granted - (long) to.sent * message.length() >= message.length();
    }

    @Override
    void request(WireLoad.Connection to, int key) {
      int stream = 2 * to.sent + 1;
      if (to.sent == 0) {
        head(to.out, fields.limit(), HEADERS, END_HEADERS, stream);
        to.out.put(fields.array(), 0, fields.limit());
      } else {
        head(to.out, KEPT.length, HEADERS, END_HEADERS, stream);
        to.out.put(KEPT);
      }
      head(to.out, message.length(), DATA, END_STREAM, stream);
      message.write(to.out, key);
    }

    @Override
    void answers(WireLoad.Connection from) throws IOException {
      ByteBuffer in = from.in;
      while (in.remaining() >= HEAD_BYTES) {
        int begin = in.position();
        int length = in.getInt(begin) >>> 8;
        if (in.remaining() < HEAD_BYTES + length) {
          return;
        }
        frame(from, in.get(begin + 3), in.get(begin + 4), in.getInt(begin + 5), length);
        in.position(begin + HEAD_BYTES + length);
      }
    }

    private static void frame(WireLoad.Connection from, int type, int flags, int stream, int length)
        throws IOException {
      int body = from.in.position() + HEAD_BYTES;
      switch (type) {
        case DATA -> from.decided++;
        case HEADERS -> {
          if ((flags & END_STREAM) != 0) {
            from.answered(stream >> 1);
            if (from.decided < from.answered) {
              throw new IOException("an answer of gRPC is no decision");
            }
          }
        }
        case SETTINGS -> {
          if ((flags & ACK) == 0) {
            head(from.out, 0, SETTINGS, ACK, 0);
          }
        }
        case PING -> {
          if ((flags & ACK) == 0) {
            head(from.out, length, PING, ACK, 0);
            from.out.putLong(from.in.getLong(body));
          }
        }
        case WINDOW_UPDATE -> from.granted += stream == 0 ? from.in.getInt(body) : 0;
        case RST_STREAM, GOAWAY -> throw new IOException("gRPC: the server ends " + stream);
        default -> {}
      }
    }
  }
}
