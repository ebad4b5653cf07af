package dev.weir.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.weir.Ticker;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;

/**
 * The memory for what is not finished: requests that have not arrived whole, and answers that
 * clients have not taken. One budget for all connections on all ports. Safe for use by many
 * threads.
 */
final class PendingBytes {
  /*
   * How is PendingBytes designed, and why? Limits for each connection do not bound memory: they are
   * multiplied by the number of connections. So every connection has an account, all accounts have
   * one sum, and the sum has a bound. When it is passed, the connections that hold most are closed,
   * largest first, until an eighth of the budget is free: a client that is in the middle of a small
   * request is not closed for somebody else's large ones, and one look over all accounts frees
   * enough for many requests to come.
   *
   * A connection is closed on its own event loop, which may take a moment, in which others go on
   * receiving. Beyond five quarters of the budget a connection that grows beyond 64 KiB is therefore
   * closed itself, at once. So the bound is five quarters of the budget, and 4 KiB for each
   * connection, and for a moment what those receive that are to be closed.
   */

  /** A connection that holds no more is not closed for what others hold. */
  static final int SMALL_BYTES = 4 << 10;

  /** A connection that holds no more is closed only if it is among the largest. */
  static final int PATIENT_BYTES = 64 << 10;

  /** After the budget was passed, one part in so many is made free. */
  private static final int FREE_PART = 8;

  private static final int LOOK_PART = 64;

  /** Direct memory also holds what is being read and written, and network buffers' spare parts. */
  private static final int DIRECT_PART = 2;

  private final long maxBytes;
  private final long strictBytes;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean closing = new AtomicBoolean();

  /** A look that found nobody to close is not repeated before so much more is held. */
  private final AtomicLong lookFromBytes = new AtomicLong();

  private final Set<Account> accounts = ConcurrentHashMap.newKeySet();
  private final FewLines log;

  PendingBytes(long maxBytes, Ticker ticker) {
    this.maxBytes = maxBytes;
    strictBytes = maxBytes + maxBytes / 4;
    log = new FewLines(ticker);
  }

  /** Returns the budget by the settings, and never more than half of the direct memory. */
  static PendingBytes of(ServerSettings settings, Ticker ticker) {
    long most = settings.value(Setting.MAX_PENDING_MEMORY);
    return new PendingBytes(Math.min(most, directMemory() / DIRECT_PART), ticker);
  }

  /**
   * Returns what {@code -XX:MaxDirectMemorySize} says, or else the heap's size, as the JVM does.
   */
  private static long directMemory() {
    HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long set = jvm == null ? 0 : Long.parseLong(jvm.getVMOption("MaxDirectMemorySize").getValue());
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }

  /** Returns the bytes that are held now. */
  long bytes() {
    return bytes.get();
  }

  /** Returns the bytes from which on connections are closed. */
  long maxBytes() {
    return maxBytes;
  }

  /**
   * Opens the account of a connection.
   *
   * @param counters of its port
   * @param evict closes the connection and its account; may be called on any thread, once
   */
  Account open(DoorCounters counters, Runnable evict) {
    Account account = new Account(counters, evict);
    accounts.add(account);
    return account;
  }

  /** An account at the time of a look: what it holds may change while it is compared. */
  private record Holder(Account account, long held) {}

  /** Returns what a client is told whose connection is closed for want of room. */
  String refusal() {
    return "unfinished requests: too many bytes on all connections together (expected: at most "
        + maxBytes
        + ")";
  }

  /** Closes the largest accounts until an eighth of the budget is free. */
  private void makeRoom() {
    if (bytes.get() < lookFromBytes.get() || !closing.compareAndSet(false, true)) {
      return; // Or somebody else is at it; until then the strict bound holds.
    }
    try {
      List<Holder> holders = new ArrayList<>();
      long held = 0;
      for (Account account : accounts) {
        long own = account.held();
        if (!account.evicted()) {
          held += own;
          if (own > SMALL_BYTES) {
            holders.add(new Holder(account, own));
          }
        }
      }
      if (held <= maxBytes || holders.isEmpty()) {
        lookFromBytes.set(bytes.get() + maxBytes / LOOK_PART); // Those chosen before still close.
        return;
      }
      lookFromBytes.set(0);
      holders.sort(Comparator.comparingLong(Holder::held).reversed());
      int closed = 0;
      while (held > maxBytes - maxBytes / FREE_PART && closed < holders.size()) {
        Holder largest = holders.get(closed++);
        held -= largest.held;
        largest.account.evict();
      }
      tell(closed, holders.get(0).held);
    } finally {
      closing.set(false);
    }
  }

  private void tell(int closed, long largest) {
    log.write(
        Level.WARNING,
        "unfinished requests and answers that clients do not take hold more than "
            + maxBytes
            + " bytes ("
            + Setting.MAX_PENDING_MEMORY.flag()
            + "): closed "
            + closed
            + (closed == 1 ? " connection" : " connections")
            + ", the largest with "
            + largest
            + " bytes");
  }

  /** What one connection holds. Safe for use by many threads. */
  final class Account {
    private final DoorCounters counters;
    private final Runnable evict;
    private final AtomicBoolean evicted = new AtomicBoolean();
    private final AtomicLong held = new AtomicLong();
    private volatile boolean closed;

    Account(DoorCounters counters, Runnable evict) {
      this.counters = counters;
      this.evict = evict;
    }

    /**
     * Changes what the connection holds by so many bytes. May have connections closed, this one
     * among them.
     *
     * @return whether the connection may keep what it has; if not, it is being closed
     */
    boolean add(long change) {
      if (change == 0) {
        return !evicted();
      }
      long own = held.addAndGet(change);
      long all = bytes.addAndGet(change);
      if (closed) {
        settle();
      } else if (change > 0 && all > maxBytes) {
        makeRoom();
        if (own > PATIENT_BYTES && bytes.get() > strictBytes) {
          evict();
        }
      }
      return !evicted();
    }

    /** Returns the bytes that the connection holds. */
    long held() {
      return held.get();
    }

    /** Returns whether the connection is being closed for want of room. */
    boolean evicted() {
      return evicted.get();
    }

    /** Takes the connection in again: it has let go of what it held, and need not be closed. */
    void recovered() {
      evicted.set(false);
    }

    private void evict() {
      if (evicted.compareAndSet(false, true)) {
        counters.evicted();
        evict.run();
      }
    }

    /** Gives back all that the connection holds; to be called when it is closed. */
    void close() {
      closed = true;
      accounts.remove(this);
      settle();
    }

    private void settle() {
      bytes.addAndGet(-held.getAndSet(0));
    }
  }
}
