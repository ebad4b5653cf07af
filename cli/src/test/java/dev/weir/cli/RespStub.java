package dev.weir.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import javax.net.ServerSocketFactory;

/** A server with as much of Redis's protocol as a client of rate limits needs. */
final class RespStub implements AutoCloseable {
  /** The answer for which the stub closes the connection instead. */
  static final String HANG_UP = "hang up";

  private final ServerSocket server;
  private final BiFunction<RespStub, List<String>, String> answers;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  final AtomicInteger commands = new AtomicInteger();
  final Map<String, AtomicInteger> byKey = new ConcurrentHashMap<>();

  private RespStub(ServerSocketFactory factory, BiFunction<RespStub, List<String>, String> answers)
      throws IOException {
    this.server = factory.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.answers = answers;
  }

  /** Starts a server that answers every command by the function. */
  static RespStub start(BiFunction<RespStub, List<String>, String> answers) throws IOException {
    return start(ServerSocketFactory.getDefault(), answers);
  }

  static RespStub start(
      ServerSocketFactory factory, BiFunction<RespStub, List<String>, String> answers)
      throws IOException {
    RespStub stub = new RespStub(factory, answers);
    run(stub::accept);
    return stub;
  }

  private static void run(Runnable task) {
    Thread thread = new Thread(task, "resp-stub");
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return server.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        sockets.add(socket);
        run(() -> serve(socket));
      }
    } catch (IOException e) {
      // The stub is closed.
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      InputStream in = new BufferedInputStream(socket.getInputStream());
      OutputStream out = new BufferedOutputStream(socket.getOutputStream());
      while (true) {
        List<String> command = new ArrayList<>();
        int words = header(in, '*');
        for (int i = 0; i < words; i++) {
          byte[] text = in.readNBytes(header(in, '$'));
          command.add(new String(text, StandardCharsets.UTF_8));
          header(in);
        }
        commands.incrementAndGet();
        String answer = answers.apply(this, command);
        if (answer.equals(HANG_UP)) {
          return;
        }
        out.write(answer.getBytes(StandardCharsets.UTF_8));
        if (in.available() == 0) {
          out.flush();
        }
      }
    } catch (IOException e) {
      // The client is gone.
    }
  }

  private static int header(InputStream in, char type) throws IOException {
    String line = header(in);
    if (line.charAt(0) != type) {
      throw new IOException("unexpected: " + line);
    }
    return Integer.parseInt(line.substring(1));
  }

  private static String header(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException();
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  /** Answers {@code CL.THROTTLE} in such a way that no permit ever comes back. */
  String throttle(List<String> command) {
    long limit = Long.parseLong(command.get(2)) + 1;
    int asked = byKey.computeIfAbsent(command.get(1), key -> new AtomicInteger()).incrementAndGet();
    return array(
        asked <= limit ? 0 : 1, limit, Math.max(0, limit - asked), asked <= limit ? -1 : 9, 9);
  }

  static String array(long... numbers) {
    StringBuilder text = new StringBuilder("*" + numbers.length + "\r\n");
    for (long number : numbers) {
      text.append(':').append(number).append("\r\n");
    }
    return text.toString();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
