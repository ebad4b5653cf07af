package dev.weir.siege;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network that loses every tenth of what a server sends, and with it the connection, as a cut at
 * that moment does. Safe for use by many threads.
 */
final class DroppingProxy implements AutoCloseable {
  private static final int CHUNK_BYTES = 16_384;

  private final int every;
  private final ServerSocket listener;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger replies = new AtomicInteger();
  private final AtomicInteger dropped = new AtomicInteger();
  private volatile int serverPort;

  /**
   * @param every which reply is lost: 10 for the tenth, the twentieth and so on
   */
  DroppingProxy(int serverPort, int every) throws IOException {
    this.serverPort = serverPort;
    this.every = every;
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    start("accept", this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  /** Sends new connections to another port. */
  void serverPort(int port) {
    serverPort = port;
  }

  int dropped() {
    return dropped.get();
  }

  private static void start(String name, Runnable task) {
    Thread thread = new Thread(task, "dropping-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        start("connect", () -> connect(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void connect(Socket client) {
    try {
      Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      start("requests", () -> forward(client, server, false));
      start("replies", () -> forward(server, client, true));
    } catch (IOException notThere) {
      close(client);
    }
  }

  private void forward(Socket from, Socket to, boolean lossy) {
    byte[] chunk = new byte[CHUNK_BYTES];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int length = in.read(chunk); length >= 0; length = in.read(chunk)) {
        if (lossy && replies.incrementAndGet() % every == 0) {
          dropped.incrementAndGet();
          break;
        }
        out.write(chunk, 0, length);
      }
    } catch (IOException cut) {
      // The other side hears of it below.
    } finally {
      close(from);
      close(to);
    }
  }

  private void close(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      // It is closed all the same.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    sockets.forEach(this::close);
  }
}
