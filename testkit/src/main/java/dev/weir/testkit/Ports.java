package dev.weir.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/** Gives out free ports of the loopback interface, each once in the life of this process. */
public final class Ports {
  /**
   * Below those that the system gives to outgoing connections, and so is the port that a cluster's
   * node opens beside its own.
   */
  private static final int FIRST = 10_000;

  private static final int LAST = 19_999;

  /** How far a node's port for the other nodes is from its port for clients. */
  private static final int BUS_OFFSET = 10_000;

  private static final SplittableRandom RANDOM = new SplittableRandom();
  private static final Set<Integer> GIVEN = new HashSet<>();

  private Ports() {}

  /** Returns a port that is free, and so is the one 10,000 above it. */
  public static synchronized int free() {
    for (int i = 0; i < 1_000; i++) {
      int port = RANDOM.nextInt(FIRST, LAST + 1);
      if (isFree(port) && isFree(port + BUS_OFFSET) && GIVEN.add(port)) {
        return port;
      }
    }
    throw new IllegalStateException("no free port (expected: some in 10000..19999)");
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }
}
