package dev.weir.redis;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a Redis server on this machine, by a bare socket: so that tests do not judge a
 * client library by itself. Not safe for use by several threads.
 */
public final class RedisConnection implements AutoCloseable {
  private static final int CONNECT_MILLIS = 10_000;

  private final Socket socket = new Socket();
  private final InputStream in;

  /**
   * Connects.
   *
   * @throws IOException if no server listens
   */
  public RedisConnection(int port) throws IOException {
    try {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /**
   * Sets how long to wait for an answer before {@link SocketTimeoutException}. Default: for ever.
   */
  public RedisConnection timeout(Duration timeout) throws IOException {
    socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
    return this;
  }

  /**
   * Sends a command and returns the answer: a string, a {@link Long}, a list of answers or null.
   *
   * @throws IllegalStateException if the answer is an error; its text is the message
   */
  public @Nullable Object ask(String... command) throws IOException {
    send(command);
    return read();
  }

  /** Sends a command without reading the answer. */
  public void send(String... command) throws IOException {
    StringBuilder request = new StringBuilder("*" + command.length + "\r\n");
    for (String word : command) {
      int length = word.getBytes(StandardCharsets.UTF_8).length;
      request.append("$").append(length).append("\r\n").append(word).append("\r\n");
    }
    socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.UTF_8));
  }

  /** Reads the answer to the oldest command that has none. As {@link #ask}. */
  public @Nullable Object read() throws IOException {
    String line = line();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> throw new IllegalStateException(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> bulk(Integer.parseInt(rest));
      case '*' -> array(Integer.parseInt(rest));
      default -> throw new IOException("answer: " + line + " (expected: one of RESP2)");
    };
  }

  private @Nullable String bulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] text = in.readNBytes(length);
    line();
    return new String(text, StandardCharsets.UTF_8);
  }

  private @Nullable List<@Nullable Object> array(int size) throws IOException {
    if (size < 0) {
      return null;
    }
    List<@Nullable Object> answers = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      answers.add(read());
    }
    return answers;
  }

  /** Reads up to the end of a line, and leaves the end out. */
  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the connection was closed");
      }
      if (next != '\r') {
        line.write(next);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
