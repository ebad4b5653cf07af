package dev.weir.wire.testkit;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The simplest client of the Redis protocol: the bytes sent and received, unchanged, so that tests
 * do not depend on a client library. Not safe for use by several threads.
 */
public final class RespClient implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;

  /** The longest wait for a reply, unless {@link #timeout} has been called. */
  private static final int PATIENCE_MILLIS = 60_000;

  private final Socket socket;
  private final InputStream in;

  /**
   * A whole reply.
   *
   * @param line the first line, including its type
   * @param bulk the text after that line, if it announces one
   * @param parts the parts of a list or a map
   */
  private record Reply(String line, @Nullable String bulk, List<Reply> parts) {
    void show(StringBuilder text) {
      text.append(line).append('|');
      if (bulk != null) {
        text.append(bulk).append('|');
      }
      parts.forEach(part -> part.show(text));
    }

    @Nullable Object value() {
      String rest = line.substring(1);
      return switch (line.charAt(0)) {
        case '+' -> rest;
        case '-' -> throw new IllegalStateException(rest);
        case ':' -> Long.valueOf(rest);
        case '$' -> bulk;
        case '*' -> rest.startsWith("-") ? null : values();
        default -> throw new IllegalStateException(line + " (expected: one of RESP2)");
      };
    }

    private List<@Nullable Object> values() {
      List<@Nullable Object> values = new ArrayList<>();
      parts.forEach(part -> values.add(part.value()));
      return values;
    }
  }

  /** Connects to a port of this machine. */
  public RespClient(int port) throws IOException {
    this(InetAddress.getLoopbackAddress().getHostAddress(), port);
  }

  public RespClient(String host, int port) throws IOException {
    this(connected(host, port));
  }

  public RespClient(int port, SSLContext tls) throws IOException {
    this(tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port));
  }

  private RespClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  private static Socket connected(String host, int port) throws IOException {
    Socket socket = new Socket();
    try {
      socket.connect(new InetSocketAddress(host, port), CONNECT_MILLIS);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sets how long to wait for a reply before {@link java.net.SocketTimeoutException}. Default: a
   * minute.
   */
  public RespClient timeout(Duration timeout) throws IOException {
    socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
    return this;
  }

  public Socket socket() {
    return socket;
  }

  /** Sends a text unchanged, one byte for each character. */
  public RespClient send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  /** Sends a command as an array of bulk strings, without reading the reply. */
  public RespClient command(String... words) throws IOException {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      byte[] utf8 = word.getBytes(StandardCharsets.UTF_8);
      text.append('$').append(utf8.length).append("\r\n");
      text.append(new String(utf8, StandardCharsets.ISO_8859_1)).append("\r\n");
    }
    return send(text.toString());
  }

  /** Sends a command and returns the whole reply, line ends shown as a bar. */
  public String exchange(String... words) throws IOException {
    return command(words).reply();
  }

  /** Returns the next whole reply, line ends shown as a bar. */
  public String reply() throws IOException {
    StringBuilder text = new StringBuilder();
    read().show(text);
    return text.toString();
  }

  /**
   * Sends a command and returns its reply: a string, a {@link Long}, a list of these or null.
   *
   * @throws IllegalStateException if it is an error; its text is the message
   */
  public @Nullable Object call(String... words) throws IOException {
    return command(words).value();
  }

  /**
   * Returns the next reply: a string, a {@link Long}, a list of these or null.
   *
   * @throws IllegalStateException if it is an error; its text is the message
   */
  public @Nullable Object value() throws IOException {
    return read().value();
  }

  private Reply read() throws IOException {
    String line = line();
    int length = "*%$".indexOf(line.charAt(0)) < 0 ? 0 : Integer.parseInt(line.substring(1));
    List<Reply> parts = new ArrayList<>();
    if (line.charAt(0) == '$') {
      return new Reply(line, length < 0 ? null : bulk(length), parts);
    }
    for (int i = 0; i < (line.charAt(0) == '%' ? 2 * length : length); i++) {
      parts.add(read());
    }
    return new Reply(line, null, parts);
  }

  private String bulk(int length) throws IOException {
    String text = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    in.skipNBytes(2);
    return text;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("closed after " + line);
      }
      line.append((char) c);
    }
    return line.substring(0, line.length() - 1);
  }

  /** Returns the five integers of a throttle's reply. */
  public List<Long> throttle(String... words) throws IOException {
    List<Long> numbers = new ArrayList<>();
    for (String line : exchange(words).split("[|]", -1)) {
      if (line.startsWith(":")) {
        numbers.add(Long.parseLong(line.substring(1)));
      }
    }
    return numbers;
  }

  /**
   * Waits until the server has closed, and skips everything that it still sends; returns whether it
   * has closed.
   */
  public boolean closed() throws IOException {
    try {
      in.readAllBytes();
      return true;
    } catch (SocketException e) {
      return true; // A reset closes as well.
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
