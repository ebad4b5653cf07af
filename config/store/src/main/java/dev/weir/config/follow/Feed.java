package dev.weir.config.follow;

import dev.weir.Ticker;
import dev.weir.config.Change;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.internal.DaemonThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a configuration store, polled for all parts of this process that depend on them.
 * Safe for use by many threads. Closing it leaves the store open.
 */
public final class Feed implements AutoCloseable {
  /*
   * How is Feed designed, and why? It reads the head at an interval, which needs one small row, and
   * reads the log only if the head has moved. It makes one call at a time, on a thread of its own,
   * since a store blocks; the ticker only schedules the calls. One feed serves rules, records and
   * all other kinds, so that each process calls the store once in an interval.
   *
   * After a failure it waits for a random part of two intervals. So a store that returns is noticed
   * within a known time, and hundreds of servers that lost it at one moment, or were started at
   * one, do not all call it at one moment again.
   *
   * If the log cannot be followed from the change that was read last, everything known may be
   * outdated. The feed reports this to its listeners before the head. It reports the same to a
   * listener that has thrown, until that returns normally. The hashes reveal a log that does not
   * continue from the last change: for example that of a store that was restored from a copy and
   * written to again.
   */

  /**
   * The most changes that are read one by one; if there are more, everything known counts as
   * outdated and is read again when needed.
   */
  public static final long MAX_BEHIND = 100_000;

  private static final long CLOSE_MILLIS = 1_000;
  private static final System.Logger LOG = System.getLogger("dev.weir.config");

  /**
   * A listener; {@code behind} is true if it must be notified of missed changes. Changed during a
   * turn only.
   */
  private static final class Subscription {
    final String kind;
    final FeedListener listener;
    boolean behind;

    Subscription(String kind, FeedListener listener) {
      this.kind = kind;
      this.listener = listener;
    }
  }

  private final ConfigStore store;
  private final Ticker ticker;
  private final long intervalNanos;
  private final LongUnaryOperator jitter;
  private final Executor executor;
  private final List<Subscription> listeners = new CopyOnWriteArrayList<>();
  private final AtomicBoolean started = new AtomicBoolean();
  private final AtomicBoolean hinted = new AtomicBoolean();

  /** Held while the store is read. */
  private final ReentrantLock turn = new ReentrantLock();

  /** The head up to which changes were reported, or null before the first answer. */
  private @Nullable Head last;

  private volatile boolean away;
  private volatile boolean closed;

  Feed(
      ConfigStore store,
      Ticker ticker,
      Duration interval,
      LongUnaryOperator jitter,
      Executor executor) {
    this.store = store;
    this.ticker = ticker;
    this.intervalNanos = interval.toNanos();
    this.jitter = jitter;
    this.executor = executor;
  }

  /** Returns a feed with a daemon thread of its own, which makes no call before {@link #start}. */
  static Feed of(ConfigStore store, Ticker ticker, Duration interval) {
    ExecutorService thread =
        Executors.newSingleThreadExecutor(DaemonThreads.named("weir-config-feed"));
    return new Feed(store, ticker, interval, Feed::random, thread);
  }

  static long random(long bound) {
    return ThreadLocalRandom.current().nextLong(bound + 1);
  }

  /**
   * Adds a listener for the changes of a kind, from the next poll on. Changes reach the listeners
   * in the order in which these were added.
   *
   * @param kind as in {@link ChangeDetails#kind}
   */
  public void listen(String kind, FeedListener listener) {
    listeners.add(new Subscription(kind, listener));
  }

  /** Removes a listener; a report that is already on its way may still reach it. */
  public void unlisten(FeedListener listener) {
    listeners.removeIf(each -> each.listener == listener);
  }

  /** Starts polling, if it has not started: first after a random part of the interval. */
  void start() {
    if (started.compareAndSet(false, true)) {
      schedule(jitter.applyAsLong(intervalNanos));
    }
  }

  private void schedule(long nanos) {
    if (!closed) {
      ticker.schedule(nanos, () -> execute(this::turn));
    }
  }

  private void execute(Runnable task) {
    if (!closed) {
      try {
        executor.execute(task);
      } catch (RejectedExecutionException e) {
        closed = true; // Another thread has closed it just now.
      } catch (RuntimeException | Error e) {
        // There is no thread: the next turn follows after one interval.
        LOG.log(System.Logger.Level.WARNING, "the store is not asked now: {0}", e.toString());
        schedule(intervalNanos);
      }
    }
  }

  private void turn() {
    boolean heard = false;
    try {
      heard = poll();
    } finally {
      schedule(heard ? intervalNanos : jitter.applyAsLong(2 * intervalNanos));
    }
  }

  /**
   * Polls the store now instead of at the end of the interval, because something may have changed.
   * Many hints at one time count as one. While the store does not answer, hints are ignored.
   */
  public void hint() {
    if (!away && started.get() && hinted.compareAndSet(false, true)) {
      execute(
          () -> {
            hinted.set(false); // Whatever changes from here on needs another hint.
            boolean unused = poll();
          });
    }
  }

  /** Calls the store once, on this thread; returns whether all went well. */
  boolean poll() {
    turn.lock();
    try {
      if (closed) {
        return true;
      }
      long asOfNanos = ticker.nanos();
      Head head;
      try {
        head = read();
      } catch (RuntimeException | Error e) {
        away = true;
        listeners.forEach(each -> each.listener.failed(e));
        return false;
      }
      away = false;
      boolean well = true;
      for (Subscription each : listeners) {
        well &= caughtUp(each, head) && caughtUp(each.listener, head, asOfNanos);
      }
      return well;
    } finally {
      turn.unlock();
    }
  }

  /** Reports to a listener that it missed changes, if it did: for example because it threw. */
  private static boolean caughtUp(Subscription each, Head head) {
    if (each.behind) {
      try {
        each.listener.missed(head);
        each.behind = false;
      } catch (RuntimeException | Error e) {
        each.listener.failed(e);
        return false;
      }
    }
    return true;
  }

  private static boolean caughtUp(FeedListener listener, Head head, long asOfNanos) {
    try {
      listener.caughtUp(head, asOfNanos);
      return true;
    } catch (IOException | RuntimeException | Error e) {
      listener.failed(e);
      return false;
    }
  }

  /** Returns the head, after the changes up to it have been reported. */
  private Head read() {
    Head head = store.head();
    Head before = last;
    if (before == null || !follows(before, head)) {
      missed();
      last = head;
      return head;
    }
    while (before.position() < head.position()) {
      List<Change> page = page(before.position());
      if (page.isEmpty() || !next(before, page.get(0))) {
        missed();
        last = head;
        return head;
      }
      for (Change change : page) {
        report(change);
        before = new Head(head.store(), head.revision(), change.number(), change.hash());
        last = before;
      }
    }
    return head;
  }

  /** Returns changes; none if the log lacks the ones before them. */
  private List<Change> page(long after) {
    try {
      return store.changes(after, ConfigStore.MAX_BATCH);
    } catch (ConfigException e) {
      if (e.kind() == Kind.DAMAGED) {
        return List.of();
      }
      throw e;
    }
  }

  /** Returns whether the head may be of the same log, and is not too far ahead. */
  private static boolean follows(Head before, Head head) {
    long behind = head.position() - before.position();
    return before.store().equals(head.store())
        && behind >= 0
        && behind <= MAX_BEHIND
        && (behind > 0 || before.hash().equals(head.hash()));
  }

  private static boolean next(Head before, Change change) {
    return change.number() == before.position() + 1
        && HexHash.chained(before.hash(), change.json()).equals(change.hash());
  }

  private void missed() {
    listeners.forEach(each -> each.behind = true);
  }

  /**
   * Reports a change to the listeners of its kind. A change that cannot be read may concern every
   * listener: each of them has missed it.
   */
  private void report(Change change) {
    ChangeDetails details;
    try {
      details = change.details();
    } catch (ConfigException e) {
      missed();
      return;
    }
    for (Subscription each : listeners) {
      if (each.kind.equals(details.kind()) && !each.behind) {
        try {
          each.listener.changed(change.number(), details);
        } catch (RuntimeException | Error e) {
          each.behind = true;
          each.listener.failed(e);
        }
      }
    }
  }

  /** Stops following the store, and waits at most a second for reports in progress. */
  @Override
  public void close() {
    closed = true;
    awaitTurn(turn);
    if (executor instanceof ExecutorService thread) {
      thread.shutdown();
    }
  }

  static void awaitTurn(ReentrantLock turn) {
    try {
      if (turn.tryLock(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
        turn.unlock();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
