package dev.weir.server.grpc;

import static dev.weir.server.RawHttp2.ACK;
import static dev.weir.server.RawHttp2.DATA;
import static dev.weir.server.RawHttp2.END_HEADERS;
import static dev.weir.server.RawHttp2.END_STREAM;
import static dev.weir.server.RawHttp2.GOAWAY;
import static dev.weir.server.RawHttp2.HEADERS;
import static dev.weir.server.RawHttp2.PING;
import static dev.weir.server.RawHttp2.PREFACE;
import static dev.weir.server.RawHttp2.RST_STREAM;
import static dev.weir.server.RawHttp2.SETTINGS;
import static dev.weir.server.RawHttp2.frame;

import dev.weir.server.RawHttp2;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** A client that says each frame itself, and reads what is answered with a decoder of Netty's. */
final class Http2Client implements AutoCloseable {
  static final String PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

  /** Settings of RFC 9113, 6.5.2. */
  static final int HEADER_TABLE_SIZE = 1;

  static final int INITIAL_WINDOW_SIZE = 4;

  /** The first byte of a field that uses no table. [RFC 7541, 6.2.2] */
  private static final int LITERAL = 0;

  /** A frame that came. */
  private record Frame(int type, int flags, int stream, ByteBuffer payload) {}

  /**
   * An answer that has ended.
   *
   * @param fields of the first and the last HEADERS, sorted
   * @param message with its prefix
   * @param literal whether the first HEADERS used no table
   */
  record Answer(
      Map<String, String> fields,
      ByteBuffer message,
      Map<String, String> trailers,
      boolean literal) {}

  private static final class Begun {
    private Map<String, String> fields = Map.of();
    private boolean literal;
    private boolean begun;
    private final ByteArrayOutputStream message = new ByteArrayOutputStream();
  }

  private final Socket socket;
  private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
  private final Map<Integer, Begun> begun = new HashMap<>();
  private final Map<Integer, Answer> answers = new HashMap<>();
  private int dataBytes;

  /** Connects without a word. */
  Http2Client(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(60_000);
  }

  /** Connects, and sends the preface and these settings, numbers and values in turn. */
  static Http2Client open(int port, int... settings) throws Exception {
    Http2Client client = new Http2Client(port);
    client.send(PREFACE);
    client.settings(settings);
    return client;
  }

  void settings(int... settings) throws Exception {
    ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
    for (int i = 0; i < settings.length; i += 2) {
      payload.putShort((short) settings[i]).putInt(settings[i + 1]);
      if (settings[i] == HEADER_TABLE_SIZE) {
        decoder.configuration().maxHeaderTableSize(settings[i + 1]);
      }
    }
    send(frame(SETTINGS, 0, 0, payload.array()));
  }

  void send(byte[]... all) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] each : all) {
      bytes.writeBytes(each);
    }
    socket.getOutputStream().write(bytes.toByteArray());
  }

  /** Returns the HEADERS of a call, with more fields, names and values in turn. */
  static byte[] head(int stream, String... more) {
    return frame(HEADERS, END_HEADERS, stream, RawHttp2.headers(PATH, more));
  }

  /** Returns the only DATA of a call. */
  static byte[] body(int stream, byte[] message) {
    return frame(DATA, END_STREAM, stream, RawHttp2.message(message));
  }

  /** Reads a frame, and keeps what it says of an answer. */
  private Frame read() throws IOException, Http2Exception {
    byte[] head = socket.getInputStream().readNBytes(RawHttp2.HEAD_BYTES);
    if (head.length < RawHttp2.HEAD_BYTES) {
      throw new EOFException("the server has closed");
    }
    ByteBuffer fields = ByteBuffer.wrap(head);
    int length = (fields.get() & 0xff) << 16 | (fields.getShort() & 0xffff);
    int type = fields.get();
    int flags = fields.get();
    int stream = fields.getInt();
    byte[] payload = socket.getInputStream().readNBytes(length);
    if (type == SETTINGS && (flags & ACK) == 0) {
      send(frame(SETTINGS, ACK, 0, new byte[0]));
    } else if (type == HEADERS || type == DATA) {
      keep(type, flags, stream, payload);
    }
    return new Frame(type, flags, stream, ByteBuffer.wrap(payload));
  }

  private void keep(int type, int flags, int stream, byte[] payload) throws Http2Exception {
    Begun answer = begun.computeIfAbsent(stream, id -> new Begun());
    Map<String, String> fields = Map.of();
    if (type == DATA) {
      answer.message.writeBytes(payload);
      dataBytes += payload.length;
    } else {
      fields = new TreeMap<>();
      Http2Headers decoded = decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(payload));
      for (Map.Entry<CharSequence, CharSequence> each : decoded) {
        fields.put(each.getKey().toString(), each.getValue().toString());
      }
      if (!answer.begun) {
        answer.begun = true;
        answer.fields = fields;
        answer.literal = payload[1] == LITERAL;
      }
    }
    if ((flags & END_STREAM) != 0) {
      answers.put(
          stream,
          new Answer(
              answer.fields,
              ByteBuffer.wrap(answer.message.toByteArray()),
              fields,
              answer.literal));
    }
  }

  /** Reads until a call is answered. */
  Answer answer(int stream) throws IOException, Http2Exception {
    while (!answers.containsKey(stream)) {
      Frame frame = read();
      if (frame.type == GOAWAY || frame.type == RST_STREAM) {
        throw new IOException("ended: " + text(frame.payload));
      }
    }
    return answers.get(stream);
  }

  /** Reads until settings that are sent here are accepted; all that was due before is then here. */
  void settle() throws Exception {
    settings();
    until(SETTINGS);
  }

  /** Sends a ping, and reads until it is answered. */
  void ping() throws Exception {
    send(frame(PING, 0, 0, new byte[8]));
    until(PING);
  }

  private void until(int type) throws Exception {
    Frame frame;
    do {
      frame = read();
      if (frame.type == GOAWAY) {
        throw new IOException("ended: " + text(frame.payload));
      }
    } while (frame.type != type || (frame.flags & ACK) == 0);
  }

  /**
   * Reads until the connection or a stream is ended.
   *
   * @return the code of GOAWAY or of RST_STREAM, or -1 if the connection was closed without
   */
  int ended() throws Http2Exception {
    try {
      for (; ; ) {
        Frame frame = read();
        if (frame.type == GOAWAY) {
          return frame.payload.getInt(4);
        }
        if (frame.type == RST_STREAM) {
          return frame.payload.getInt(0);
        }
      }
    } catch (IOException e) {
      return -1;
    }
  }

  /** Reads until so many bytes of messages have come in all. */
  void awaitData(int bytes) throws IOException, Http2Exception {
    while (dataBytes < bytes) {
      read();
    }
  }

  /** Returns how many bytes of messages have come. */
  int dataBytes() {
    return dataBytes;
  }

  boolean isAnswered(int stream) {
    return answers.containsKey(stream);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private static String text(ByteBuffer payload) {
    return StandardCharsets.ISO_8859_1.decode(payload).toString();
  }
}
