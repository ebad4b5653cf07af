package dev.weir.cluster.internal.peer;

import dev.weir.cluster.Await;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The wires from each of three members to each other, which fail on request. */
public final class Wires implements AutoCloseable {
  private final Wire[][] wires = new Wire[3][3];
  private final int[] ports = new int[3];
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "wire");
            thread.setDaemon(true);
            return thread;
          });

  public Wires() throws IOException {
    for (Wire[] row : wires) {
      for (int to = 0; to < row.length; to++) {
        row[to] = new Wire(to);
      }
    }
  }

  /** Sets the port at which a member listens now. */
  public synchronized void moved(int member, int port) {
    ports[member] = port;
  }

  private synchronized int real(int member) {
    return ports[member];
  }

  public int port(int from, int to) {
    return wires[from][to].listener.getLocalPort();
  }

  public Wire wire(int from, int to) {
    return wires[from][to];
  }

  /** Ends all faults; held messages are delivered. */
  public void heal() {
    for (Wire[] row : wires) {
      for (Wire wire : row) {
        wire.set(false, false, 0);
      }
    }
  }

  /** Holds all messages from and to a member. */
  public void isolate(int member) {
    for (int other = 0; other < 3; other++) {
      wires[member][other].set(true, true, 0);
      wires[other][member].set(true, true, 0);
    }
  }

  @Override
  public void close() throws IOException {
    for (Wire[] row : wires) {
      for (Wire wire : row) {
        wire.listener.close();
        wire.cut();
      }
    }
    threads.shutdownNow();
  }

  /** The requests of one member to another, and their answers. */
  public final class Wire {
    private final int to;
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    // Guarded by this.
    private boolean requestsHeld;
    private boolean repliesHeld;
    private long delayMillis;

    private Wire(int to) throws IOException {
      this.to = to;
      threads.execute(this::accept);
    }

    public synchronized void set(boolean holdRequests, boolean holdReplies, long delay) {
      requestsHeld = holdRequests;
      repliesHeld = holdReplies;
      delayMillis = delay;
      notifyAll();
    }

    /** Closes the open connections. */
    public void cut() {
      open.forEach(Wires::close);
    }

    private void accept() {
      try {
        while (true) {
          Socket from = listener.accept();
          threads.execute(() -> connect(from));
        }
      } catch (IOException closed) {
        cut();
      }
    }

    private void connect(Socket from) {
      try {
        Socket server = new Socket(InetAddress.getLoopbackAddress(), real(to));
        from.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        open.add(from);
        open.add(server);
        threads.execute(() -> pump(from, server, true));
        pump(server, from, false);
      } catch (IOException refused) {
        close(from);
      }
    }

    private void pump(Socket from, Socket into, boolean requests) {
      byte[] bytes = new byte[65_536];
      try (from;
          into) {
        InputStream in = from.getInputStream();
        OutputStream out = into.getOutputStream();
        for (int read; (read = in.read(bytes)) >= 0; ) {
          pass(requests);
          out.write(bytes, 0, read);
        }
      } catch (IOException | InterruptedException gone) {
        // Both ends are closed.
      } finally {
        open.remove(from);
        open.remove(into);
      }
    }

    private void pass(boolean requests) throws InterruptedException {
      long delay = delay();
      if (delay > 0) {
        Await.pause(delay);
      }
      hold(requests);
    }

    private synchronized long delay() {
      return delayMillis;
    }

    private synchronized void hold(boolean requests) throws InterruptedException {
      while (requests ? requestsHeld : repliesHeld) {
        wait();
      }
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
