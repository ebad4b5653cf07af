package dev.weir.wire.testkit;

import static dev.weir.wire.testkit.Http2Frames.ACK;
import static dev.weir.wire.testkit.Http2Frames.DATA;
import static dev.weir.wire.testkit.Http2Frames.END_HEADERS;
import static dev.weir.wire.testkit.Http2Frames.END_STREAM;
import static dev.weir.wire.testkit.Http2Frames.GOAWAY;
import static dev.weir.wire.testkit.Http2Frames.HEADERS;
import static dev.weir.wire.testkit.Http2Frames.MAX_FRAME;
import static dev.weir.wire.testkit.Http2Frames.PING;
import static dev.weir.wire.testkit.Http2Frames.PREFACE;
import static dev.weir.wire.testkit.Http2Frames.RST_STREAM;
import static dev.weir.wire.testkit.Http2Frames.SETTINGS;
import static dev.weir.wire.testkit.Http2Frames.WINDOW_UPDATE;
import static dev.weir.wire.testkit.Http2Frames.frame;

import dev.weir.Ticker;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A client that sends each frame itself, and reads answers with a decoder of Netty. Not safe for
 * use by several threads.
 */
public final class Http2Client implements AutoCloseable {
  /*
   * How are calls sent? Either frame by frame, by send(), even if the server does not allow it:
   * tests use this to break the rules of HTTP/2, or to keep windows shut. Or by call(), which sends
   * at most as much as the server's windows have room for, and reads the server's frames in
   * between: more room, pings, the end of a call or of all. There is no thread that reads; a server
   * whose answers are not read meanwhile keeps them in its socket. awaitEnd() reads until none of
   * these calls is left, the server has closed the connection, or the time is over.
   */

  public static final String PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

  /** A setting of RFC 9113, 6.5.2. */
  public static final int HEADER_TABLE_SIZE = 1;

  /** A setting of RFC 9113, 6.5.2. */
  public static final int INITIAL_WINDOW_SIZE = 4;

  private static final Ticker CLOCK = Ticker.system();
  private static final int PATIENCE_MILLIS = 60_000;

  /** The first byte of a header field that uses no table. [RFC 7541, 6.2.2] */
  private static final int LITERAL = 0;

  /** A frame that was received. */
  private record Frame(int type, int flags, int stream, ByteBuffer payload) {}

  /**
   * An answer that has ended.
   *
   * @param fields the header fields of the first and the last HEADERS, sorted
   * @param message the message with its prefix
   * @param literal true if the first HEADERS used no table
   */
  public record Answer(
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

  /** The window of each call that is not over: the bytes that the server still accepts. */
  private final Map<Integer, Long> windows = new HashMap<>();

  private long initialWindow = 65_535;
  private long window = 65_535;
  private long deadline = CLOCK.nanos() + Duration.ofMillis(PATIENCE_MILLIS).toNanos();
  private boolean closed;
  private @Nullable String goAway;
  private int opened;
  private long sentBytes;

  /** Connects, and sends nothing. */
  public Http2Client(int port) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MILLIS);
  }

  /** Connects, and sends the preface and these settings, numbers and values in turn. */
  public static Http2Client open(int port, int... settings) throws IOException {
    Http2Client client = new Http2Client(port);
    client.send(PREFACE);
    client.settings(settings);
    return client;
  }

  /** Sends settings, numbers and values in turn. */
  public void settings(int... settings) throws IOException {
    ByteBuffer payload = ByteBuffer.allocate(settings.length * 3);
    for (int i = 0; i < settings.length; i += 2) {
      payload.putShort((short) settings[i]).putInt(settings[i + 1]);
      if (settings[i] == HEADER_TABLE_SIZE) {
        tableSize(settings[i + 1]);
      }
    }
    send(frame(SETTINGS, 0, 0, payload.array()));
  }

  private void tableSize(int bytes) {
    try {
      decoder.configuration().maxHeaderTableSize(bytes);
    } catch (Http2Exception e) {
      throw new IllegalArgumentException("table of " + bytes + " bytes", e);
    }
  }

  /** Sends all of these bytes together. */
  public void send(byte[]... all) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] each : all) {
      bytes.writeBytes(each);
    }
    socket.getOutputStream().write(bytes.toByteArray());
  }

  /** Returns the HEADERS of a call, with more fields, names and values in turn. */
  public static byte[] head(int stream, String... more) {
    return frame(HEADERS, END_HEADERS, stream, Http2Frames.headers(PATH, more));
  }

  /** Returns the only DATA of a call. */
  public static byte[] body(int stream, byte[] message) {
    return frame(DATA, END_STREAM, stream, Http2Frames.message(message));
  }

  /** Reads a frame, and keeps its part of an answer. */
  private Frame read() throws IOException {
    byte[] head = socket.getInputStream().readNBytes(Http2Frames.HEAD_BYTES);
    if (head.length < Http2Frames.HEAD_BYTES) {
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
    } else if (type == PING && (flags & ACK) == 0) {
      send(frame(PING, ACK, 0, payload));
    }
    record(type, flags, stream, ByteBuffer.wrap(payload));
    return new Frame(type, flags, stream, ByteBuffer.wrap(payload));
  }

  private void keep(int type, int flags, int stream, byte[] payload) {
    Begun answer = begun.computeIfAbsent(stream, id -> new Begun());
    Map<String, String> fields = Map.of();
    if (type == DATA) {
      answer.message.writeBytes(payload);
      dataBytes += payload.length;
    } else {
      fields = new TreeMap<>();
      decode(stream, payload, fields);
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

  private void decode(int stream, byte[] payload, Map<String, String> fields) {
    try {
      for (Map.Entry<CharSequence, CharSequence> each :
          decoder.decodeHeaders(stream, Unpooled.wrappedBuffer(payload))) {
        fields.put(each.getKey().toString(), each.getValue().toString());
      }
    } catch (Http2Exception e) {
      throw new IllegalStateException("fields of stream " + stream, e);
    }
  }

  /** Records the windows and ends that a frame brings. */
  private void record(int type, int flags, int stream, ByteBuffer payload) {
    boolean last = (type == HEADERS || type == DATA) && (flags & END_STREAM) != 0;
    if (type == SETTINGS && (flags & ACK) == 0) {
      while (payload.remaining() >= 6) {
        int name = payload.getShort();
        int value = payload.getInt();
        if (name == INITIAL_WINDOW_SIZE) {
          long more = value - initialWindow;
          windows.replaceAll((id, room) -> room + more);
          initialWindow = value;
        }
      }
    } else if (type == WINDOW_UPDATE && stream == 0) {
      window += payload.getInt();
    } else if (type == WINDOW_UPDATE) {
      int more = payload.getInt();
      windows.computeIfPresent(stream, (id, room) -> room + more);
    } else if (type == GOAWAY) {
      goAway = text(payload.slice(8, payload.limit() - 8));
    } else if (type == RST_STREAM || last) {
      windows.remove(stream);
    }
  }

  /** Sets how long {@link #call} and {@link #awaitEnd} continue from now on. Default: a minute. */
  public void atMost(Duration time) {
    deadline = CLOCK.nanos() + time.toNanos();
  }

  /**
   * Opens a call and sends bytes on it, as far as the server allows.
   *
   * @param fields names and values of more header fields, in turn
   * @param whole whether the call is then declared complete
   * @return false if the connection has ended
   */
  public boolean call(String path, List<String> fields, byte[] bytes, boolean whole) {
    int stream = 2 * opened + 1;
    try {
      while (!closed && socket.getInputStream().available() > 0) {
        read();
      }
      if (closed) {
        return false;
      }
      opened++;
      windows.put(stream, initialWindow);
      byte[] head = Http2Frames.headers(path, fields.toArray(new String[0]));
      send(frame(HEADERS, END_HEADERS, stream, head));
      int sent = 0;
      while (sent < bytes.length) {
        int length = take(stream, Math.min(MAX_FRAME, bytes.length - sent));
        if (length == 0) {
          return true;
        }
        boolean last = whole && sent + length == bytes.length;
        byte[] payload = Arrays.copyOfRange(bytes, sent, sent + length);
        send(frame(DATA, last ? END_STREAM : 0, stream, payload));
        sent += length;
        sentBytes += length;
      }
      return true;
    } catch (IOException e) {
      closed = true; // The server has closed.
      return false;
    }
  }

  /** Waits for room in the windows; returns how much there is, 0 if the stream has ended. */
  private int take(int stream, int wanted) throws IOException {
    while (true) {
      Long room = windows.get(stream);
      if (room == null) {
        return 0;
      }
      long length = Math.min(wanted, Math.min(window, room));
      if (length > 0) {
        window -= length;
        windows.put(stream, room - length);
        return (int) length;
      }
      if (!readInTime()) {
        return 0;
      }
    }
  }

  /** Reads a frame; returns whether one came before the time was over. */
  private boolean readInTime() throws IOException {
    long restMillis = (deadline - CLOCK.nanos()) / 1_000_000;
    socket.setSoTimeout((int) Math.max(1, restMillis)); // Bytes that have arrived are read.
    try {
      read();
      return true;
    } catch (SocketTimeoutException late) {
      return false;
    }
  }

  /**
   * Reads until the server has ended all calls, or the time is over; returns the number of calls
   * left.
   */
  public int awaitEnd() {
    try {
      boolean inTime = true;
      while (!closed && !windows.isEmpty() && inTime) {
        inTime = readInTime();
      }
    } catch (IOException e) {
      closed = true; // The server has closed.
    }
    return closed ? 0 : windows.size();
  }

  /** Returns how many calls were opened by {@link #call}. */
  public int opened() {
    return opened;
  }

  /** Returns how many bytes {@link #call} has sent. */
  public long sentBytes() {
    return sentBytes;
  }

  /** Returns the text of the server's GOAWAY; null without one. */
  public @Nullable String goAway() {
    return goAway;
  }

  /** Reads until a call is answered. */
  public Answer answer(int stream) throws IOException {
    while (!answers.containsKey(stream)) {
      Frame frame = read();
      if (frame.type == GOAWAY || frame.type == RST_STREAM) {
        throw new IOException("ended: " + text(frame.payload));
      }
    }
    return Objects.requireNonNull(answers.get(stream));
  }

  /**
   * Reads until the settings sent by this call are acknowledged; everything that was due before has
   * then arrived.
   */
  public void settle() throws IOException {
    settings();
    until(SETTINGS);
  }

  /** Sends a ping, and reads until it is answered. */
  public void ping() throws IOException {
    send(frame(PING, 0, 0, new byte[8]));
    until(PING);
  }

  private void until(int type) throws IOException {
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
  public int ended() {
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

  /** Reads until {@code bytes} bytes of messages have arrived in all. */
  public void awaitData(int bytes) throws IOException {
    while (dataBytes < bytes) {
      read();
    }
  }

  /** Returns how many bytes of messages have arrived. */
  public int dataBytes() {
    return dataBytes;
  }

  /** Returns whether the whole answer to a call has been read. */
  public boolean isAnswered(int stream) {
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
