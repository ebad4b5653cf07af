package dev.weir.bench.wire;

import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Clients that misbehave at the RESP port, at a bounded rate, until closed. It measures whether
 * other clients wait for them, not how the processor is divided.
 */
final class WireAbuse implements AutoCloseable {
  private static final int SILENT = 500;
  private static final int NEVER_READING = 20;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /**
   * The bytes of the attacks, each sent on its own connection, one after the other, 200 a second.
   */
  private static final String[] ATTACKS = {
    "*1000000\r\n",
    "*1\r\n$2147483647\r\n",
    "*1\r\n$-1\r\n",
    "*5\r\n$11\r\nCL.THROTTLE\r\n$100000\r\nhalf of it",
    "\"unbalanced\r\n",
    "\0\0\0\0\r\n",
    "POST / HTTP/1.1\r\n\r\n",
    "CL.THROTTLE a b c d\r\n".repeat(100),
  };

  private final int port;
  private final List<Socket> open = new ArrayList<>();
  private final Thread attacker = DaemonThreads.create("abuse", this::attack);
  private volatile boolean over;

  WireAbuse(int port) throws IOException {
    this.port = port;
    for (int i = 0; i < SILENT; i++) {
      open.add(connect("*3\r\n$4\r\n"));
    }
    for (int i = 0; i < NEVER_READING; i++) {
      open.add(connect("COMMAND\r\n".repeat(2_000)));
    }
  }

  WireAbuse begin() {
    attacker.start();
    return this;
  }

  private Socket connect(String text) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private void attack() {
    for (int i = 0; !over; i++) {
      try (Socket socket = connect(ATTACKS[i % ATTACKS.length])) {
        socket.shutdownOutput();
        LockSupport.parkNanos(PAUSE_NANOS);
      } catch (IOException e) {
        LockSupport.parkNanos(PAUSE_NANOS); // It is closed at once, as it should be.
      }
    }
  }

  @Override
  public String toString() {
    return SILENT + " silent, " + NEVER_READING + " never reading, 200 attacks/s";
  }

  @Override
  public void close() throws IOException {
    over = true;
    for (Socket socket : open) {
      socket.close();
    }
  }
}
