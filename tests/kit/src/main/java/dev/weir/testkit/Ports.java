package dev.weir.testkit;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A source of free ports of the loopback interface, each for one process until that ends, and once
 * in its life. Safe for use by many threads.
 */
public final class Ports {
  /**
   * The first port. The range is below those that the system uses for outgoing connections, and so
   * is the port that a cluster's node opens beside its own.
   */
  private static final int FIRST = 10_000;

  private static final int LAST = 19_999;

  /** The distance of a node's port for other nodes from its port for clients. */
  private static final int BUS_OFFSET = 10_000;

  private static final SplittableRandom RANDOM = new SplittableRandom();

  /**
   * The UDP sockets of the given ports. A port without a listener looks free to another process,
   * which then finds its UDP port taken.
   */
  private static final List<DatagramSocket> GIVEN = new ArrayList<>();

  private Ports() {}

  /** Returns a port that is free, if the one 10,000 above it is free as well. */
  public static synchronized int free() {
    for (int i = 0; i < 1_000; i++) {
      int port = RANDOM.nextInt(FIRST, LAST + 1);
      DatagramSocket claim = claim(port);
      if (claim != null && isFree(port) && isFree(port + BUS_OFFSET)) {
        GIVEN.add(claim);
        return port;
      }
      if (claim != null) {
        claim.close();
      }
    }
    throw new IllegalStateException("no free port (expected: some in 10000..19999)");
  }

  /**
   * Returns a socket that no other process can have while it is open; null if another process has
   * it.
   */
  private static @Nullable DatagramSocket claim(int port) {
    try {
      return new DatagramSocket(port, InetAddress.getLoopbackAddress());
    } catch (SocketException taken) {
      return null;
    }
  }

  /**
   * Returns whether nothing answers at a port. A socket that is opened there to try would hold the
   * port after it is closed: a process that is being started has a copy for some milliseconds.
   */
  private static boolean isFree(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return !socket.isConnected();
    } catch (IOException refused) {
      return true;
    }
  }
}
