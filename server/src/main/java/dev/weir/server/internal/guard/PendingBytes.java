package dev.weir.server.internal.guard;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.weir.Ticker;
import dev.weir.server.internal.log.FewLines;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
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
 * The memory for unfinished work: requests that have not arrived whole, and answers that clients
 * have not read. One budget for all connections on all ports. Safe for use by many threads.
 */
public final class PendingBytes {
  /*
   * How is PendingBytes designed, and why? A bound for each connection does not bound memory: it is
   * multiplied by the number of connections. So every connection has an account, all accounts have
   * one sum, and the sum has a bound, the budget. When it is exceeded, the connections that hold
   * most bytes are closed, largest first, until an eighth of the budget is free. So a client in the
   * middle of a small request is not closed because of the large requests of others, and one pass
   * over all accounts frees enough for many requests to come.
   *
   * A connection is closed on its own event loop, which may take a moment in which others go on
   * receiving. Therefore, beyond five quarters of the budget, a connection that grows beyond 64 KiB
   * is closed itself, at once. So the bound is five quarters of the budget, plus 4 KiB for each
   * connection, plus for a moment the bytes that arrive on connections that are about to be closed.
   */

  /** The bytes up to which a connection is not closed for lack of room. */
  public static final int SMALL_BYTES = 4 << 10;

  /** The bytes up to which a connection is closed only if it is among the largest. */
  static final int PATIENT_BYTES = 64 << 10;

  /** Once the budget is exceeded, this fraction of it (an eighth) is freed. */
  private static final int FREE_PART = 8;

  private static final int LOOK_PART = 64;

  /**
   * The budget is at most this fraction (half) of the direct memory, which also holds network
   * buffers.
   */
  private static final int DIRECT_PART = 2;

  private final long maxBytes;
  private final long strictBytes;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean closing = new AtomicBoolean();

  /** True if the budget was exceeded since the last search for connections to close began. */
  private final AtomicBoolean wanted = new AtomicBoolean();

  /**
   * The bytes from which on the next pass is made, after a pass that found no connection to close:
   * the bytes of connections that are being closed, and a little more. It falls when bytes are
   * given back; otherwise other connections could hold as much as well.
   */
  private final AtomicLong lookFromBytes = new AtomicLong();

  private final Set<Account> accounts = ConcurrentHashMap.newKeySet();
  private final FewLines log;

  public PendingBytes(long maxBytes, Ticker ticker) {
    this.maxBytes = maxBytes;
    strictBytes = maxBytes + maxBytes / 4;
    log = new FewLines(ticker);
  }

  /** Returns the budget by the settings, at most half of the direct memory. */
  public static PendingBytes of(ServerSettings settings, Ticker ticker) {
    long most = settings.value(Settings.MAX_PENDING_MEMORY);
    return new PendingBytes(Math.min(most, directMemory() / DIRECT_PART), ticker);
  }

  /**
   * Returns {@code -XX:MaxDirectMemorySize}. If it is not set, returns the size of the heap, the
   * JVM's own default.
   */
  private static long directMemory() {
    HotSpotDiagnosticMXBean jvm =
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
    long set = jvm == null ? 0 : Long.parseLong(jvm.getVMOption("MaxDirectMemorySize").getValue());
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }

  /** Returns the bytes that are counted now. */
  public long bytes() {
    return bytes.get();
  }

  /** Returns the bytes from which on connections are closed. */
  public long maxBytes() {
    return maxBytes;
  }

  /**
   * Opens the account of a connection.
   *
   * @param counters of its port
   * @param evict closes the connection and its account; may be called on any thread, once
   */
  public Account open(DoorCounters counters, Runnable evict) {
    Account account = new Account(counters, evict);
    accounts.add(account);
    return account;
  }

  /** A snapshot of an account: its bytes may change while accounts are compared. */
  private record Holder(Account account, long held) {}

  /** Returns the message for a client whose connection is closed for lack of room. */
  public String refusal() {
    return "unfinished requests: too many bytes on all connections together (expected: at most "
        + maxBytes
        + ")";
  }

  /** Closes the largest accounts until an eighth of the budget is free. */
  private void makeRoom() {
    wanted.set(true);
    // Another thread may be making room. It then checks once more, since it may have seen fewer
    // bytes.
    while (bytes.get() >= lookFromBytes.get()
        && wanted.get()
        && closing.compareAndSet(false, true)) {
      wanted.set(false);
      try {
        closeLargest();
      } finally {
        closing.set(false);
      }
    }
  }

  private void closeLargest() {
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
      long seen = bytes.get(); // Connections chosen before are still closing.
      lookFromBytes.set(seen + maxBytes / LOOK_PART);
      long less = seen - bytes.get();
      if (less > 0) { // Bytes were given back meanwhile, perhaps before there was a value to lower.
        lower(less);
      }
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
    log(closed, holders.get(0).held);
  }

  private void lower(long less) {
    if (lookFromBytes.get() > 0) {
      lookFromBytes.updateAndGet(from -> Math.max(0, from - less));
    }
  }

  private void log(int closed, long largest) {
    log.write(
        Level.WARNING,
        "unfinished requests and answers that clients do not read hold more than "
            + maxBytes
            + " bytes ("
            + Settings.MAX_PENDING_MEMORY.flag()
            + "): closed "
            + closed
            + (closed == 1 ? " connection" : " connections")
            + ", the largest with "
            + largest
            + " bytes");
  }

  /** The bytes of one connection. Safe for use by many threads. */
  public final class Account {
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
     * Adds {@code change} to the bytes that the connection holds. May close connections, also this
     * one.
     *
     * @return whether the connection may keep what it has; if not, it is being closed
     */
    public boolean add(long change) {
      if (change == 0) {
        return !evicted();
      }
      long own = held.addAndGet(change);
      long all = bytes.addAndGet(change);
      if (change < 0) {
        lower(-change);
      }
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
    public long held() {
      return held.get();
    }

    /** Returns whether the connection is being closed for lack of room. */
    boolean evicted() {
      return evicted.get();
    }

    /** Keeps the connection after all: it has freed its bytes and need not be closed. */
    public void recovered() {
      evicted.set(false);
    }

    private void evict() {
      if (evicted.compareAndSet(false, true)) {
        counters.evicted();
        evict.run();
      }
    }

    /** Gives back all bytes of the connection; to be called when it is closed. */
    public void close() {
      closed = true;
      accounts.remove(this);
      settle();
    }

    private void settle() {
      long given = held.getAndSet(0);
      bytes.addAndGet(-given);
      lower(given);
    }
  }
}
