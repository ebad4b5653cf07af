package dev.weir.testkit;

import dev.weir.Ticker;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A network between a client and a server on this machine that fails on request. Forwards every
 * byte until then. Safe for use by many threads.
 */
public final class FaultProxy implements AutoCloseable {
  private static final Ticker CLOCK = Ticker.system();
  private static final int CHUNK_BYTES = 16_384;

  /**
   * The most chunks on their way in one direction of a connection; beyond it the sender must wait.
   */
  private static final int MAX_CHUNKS = 1_024;

  private static final long CLOSE_SECONDS = 30;

  /** Bytes on their way; empty at the end. */
  private record Chunk(ByteBuffer bytes, long sentNanos) {}

  private volatile int serverPort;
  private final int port = Ports.free();
  private final Set<Link> links = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads;

  // The object's lock guards the following fields; a change wakes the threads that wait for it.
  private @Nullable ServerSocket listener;
  private Future<?> acceptor = CompletableFuture.completedFuture(null);
  private long delayNanos;
  private boolean stalled;
  private boolean mute;
  private int lostEvery;
  private int replies;
  private int lost;

  /** Starts a proxy to a port of this machine. */
  public FaultProxy(int serverPort) {
    this.serverPort = serverPort;
    threads = Executors.newCachedThreadPool(DaemonThreads.numbered("fault-proxy-to-" + serverPort));
    accept();
  }

  /** Returns the port for clients, the same for as long as the proxy exists. */
  public int port() {
    return port;
  }

  /** Returns how many connections are open. */
  public int connections() {
    return links.size();
  }

  /** Sends new connections to another port of this machine. */
  public void forwardTo(int otherPort) {
    serverPort = otherPort;
  }

  /**
   * Ends all faults; bytes that were held back go on their way. Connections that were cut stay cut.
   */
  public synchronized void heal() {
    delayNanos = 0;
    stalled = false;
    mute = false;
    lostEvery = 0;
    if (listener == null) {
      accept();
    }
    notifyAll();
  }

  /** Delays every byte by {@code eachWay}, in each direction. */
  public synchronized void delay(Duration eachWay) {
    delayNanos = eachWay.toNanos();
    notifyAll();
  }

  /** Accepts bytes and connections, but forwards nothing until healed. */
  public synchronized void stall() {
    stalled = true;
  }

  /** Forwards requests and loses the answers. */
  public synchronized void dropReplies() {
    mute = true;
  }

  /**
   * Loses a part of the server's answers at once, and with it the connection, as a cut at that
   * moment does.
   *
   * @param every which part is lost: 10 for the tenth, the twentieth and so on, of all connections
   */
  public synchronized void cutReplies(int every) {
    lostEvery = every;
  }

  /** Returns how often {@link #cutReplies} has cut a connection. */
  public synchronized int lost() {
    return lost;
  }

  private synchronized boolean isLost() {
    boolean last = lostEvery > 0 && ++replies % lostEvery == 0;
    lost += last ? 1 : 0;
    return last;
  }

  /**
   * Delivers nothing more on open connections, and closes none of them, as if something on the way
   * had forgotten them; new connections work.
   */
  public void forget() {
    links.forEach(link -> link.forgotten = true);
  }

  /** Refuses new connections; open ones continue. */
  public synchronized void refuse() {
    close(listener);
    listener = null;
    try {
      acceptor.get(CLOSE_SECONDS, TimeUnit.SECONDS); // Until then, connections are accepted.
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new IllegalStateException("fault proxy: still accepts (expected: refuses)", e);
    }
  }

  /** Closes all connections. New ones are accepted. */
  public void cut() {
    links.forEach(Link::close);
  }

  /** Resets all connections, for both of their sides. New ones are accepted. */
  public void reset() {
    links.forEach(Link::reset);
  }

  /**
   * Ends one direction of all connections, like a side that has nothing more to send: requests no
   * longer arrive, answers still do. New connections are accepted.
   */
  public void endRequests() {
    links.forEach(Link::endRequests);
  }

  private synchronized void accept() {
    try {
      ServerSocket socket = new ServerSocket(port, 128, InetAddress.getLoopbackAddress());
      listener = socket;
      acceptor = threads.submit(() -> accept(socket));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void accept(ServerSocket socket) {
    while (!socket.isClosed()) {
      try {
        link(socket.accept());
      } catch (IOException closed) {
        // The socket was closed by refuse() or close(): the loop ends.
      }
    }
  }

  private void link(Socket client) {
    try {
      Link link = new Link(client, new Socket(InetAddress.getLoopbackAddress(), serverPort));
      try {
        link.start();
      } catch (RejectedExecutionException | IOException closing) {
        link.close();
      }
    } catch (IOException noServer) {
      close(client);
    }
  }

  /** Waits until a chunk may go on, and returns whether it is to be delivered. */
  private synchronized boolean arrives(Chunk chunk, boolean reply) throws InterruptedException {
    long wait = chunk.sentNanos() + delayNanos - CLOCK.nanos();
    while (stalled || wait > 0) {
      if (stalled) {
        wait();
      } else {
        TimeUnit.NANOSECONDS.timedWait(this, wait);
      }
      wait = chunk.sentNanos() + delayNanos - CLOCK.nanos();
    }
    return !(reply && mute);
  }

  /** One client's connection and its own to the server. */
  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean forgotten;
    private volatile boolean requestsEnded;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    void start() throws IOException {
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      links.add(this);
      forward(client, server, false);
      forward(server, client, true);
    }

    private void forward(Socket from, Socket to, boolean reply) {
      BlockingQueue<Chunk> way = new LinkedBlockingQueue<>(MAX_CHUNKS);
      threads.execute(() -> read(from, way));
      threads.execute(() -> write(way, to, reply));
    }

    private void read(Socket from, BlockingQueue<Chunk> way) {
      byte[] buffer = new byte[CHUNK_BYTES];
      try {
        int length;
        do {
          length = readSome(from, buffer);
          byte[] bytes = Arrays.copyOf(buffer, Math.max(0, length));
          way.put(new Chunk(ByteBuffer.wrap(bytes), CLOCK.nanos()));
        } while (length >= 0);
      } catch (InterruptedException closing) {
        close();
      }
    }

    /** Reads some bytes and returns how many, -1 at the end, of whatever kind. */
    private int readSome(Socket from, byte[] buffer) {
      try {
        return from.getInputStream().read(buffer);
      } catch (IOException closed) {
        return -1;
      }
    }

    void reset() {
      try {
        client.setSoLinger(true, 0);
        server.setSoLinger(true, 0);
      } catch (IOException closed) {
        // The connection has ended in another way.
      }
      close();
    }

    void endRequests() {
      requestsEnded = true;
      try {
        server.shutdownOutput();
      } catch (IOException closed) {
        // The connection has ended in another way.
      }
    }

    private void write(BlockingQueue<Chunk> way, Socket to, boolean reply) {
      try {
        while (true) {
          Chunk chunk = way.take();
          boolean arrives = arrives(chunk, reply);
          if (!chunk.bytes().hasRemaining() || (reply && isLost())) {
            break;
          }
          if (arrives && !forgotten && (reply || !requestsEnded)) {
            to.getOutputStream().write(chunk.bytes().array());
          }
        }
      } catch (IOException | InterruptedException closed) {
        // The end on one side now closes the other as well.
      }
      close();
    }

    void close() {
      links.remove(this);
      FaultProxy.close(client);
      FaultProxy.close(server);
    }
  }

  private static void close(@Nullable AutoCloseable closeable) {
    try {
      if (closeable != null) {
        closeable.close();
      }
    } catch (Exception e) {
      throw new IllegalStateException("cannot close " + closeable, e);
    }
  }

  /** Closes all connections, and returns when no thread runs any more. */
  @Override
  public void close() {
    refuse();
    threads.shutdownNow();
    cut();
    try {
      if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("fault proxy: still runs (expected: ended)");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public String toString() {
    return "fault proxy " + port + " to " + serverPort;
  }
}
