package dev.weir.server;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;

/** The plainest RESP client: what was sent and what came back, byte for byte. */
public final class RespClient implements AutoCloseable {
  public final Socket socket;
  private final InputStream in;

  public RespClient(int port) throws IOException {
    this(new Socket(InetAddress.getLoopbackAddress(), port));
  }

  public RespClient(String host, int port) throws IOException {
    this(new Socket(host, port));
  }

  RespClient(int port, SSLContext tls) throws IOException {
    this(tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port));
  }

  private RespClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(60_000);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  RespClient send(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return this;
  }

  /** Sends a command as an array of bulk strings. */
  RespClient command(String... words) throws IOException {
    StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      byte[] utf8 = word.getBytes(StandardCharsets.UTF_8);
      text.append('$').append(utf8.length).append("\r\n");
      text.append(new String(utf8, StandardCharsets.ISO_8859_1)).append("\r\n");
    }
    return send(text.toString());
  }

  /** Sends a command and returns the whole reply, line ends shown as a bar. */
  public String ask(String... words) throws IOException {
    return command(words).reply();
  }

  /** Returns the next whole reply, line ends shown as a bar. */
  String reply() throws IOException {
    String line = line();
    StringBuilder reply = new StringBuilder(line).append('|');
    int length = "*%$".indexOf(line.charAt(0)) < 0 ? 0 : Integer.parseInt(line.substring(1));
    switch (line.charAt(0)) {
      case '*' -> replies(reply, length);
      case '%' -> replies(reply, 2 * length);
      case '$' -> {
        if (length >= 0) {
          reply.append(new String(in.readNBytes(length), StandardCharsets.UTF_8)).append('|');
          in.skipNBytes(2);
        }
      }
      default -> {}
    }
    return reply.toString();
  }

  private void replies(StringBuilder reply, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      reply.append(reply());
    }
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
    for (String line : ask(words).split("[|]", -1)) {
      if (line.startsWith(":")) {
        numbers.add(Long.parseLong(line.substring(1)));
      }
    }
    return numbers;
  }

  /** Waits until the server has closed, past whatever it still sends; returns whether it has. */
  boolean closed() throws IOException {
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
