package dev.weir.load;

import dev.weir.Ticker;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One connection's part of the load: its slots, each with at most one request in flight.
 *
 * <p>A slot that gets an answer takes the next request that is due, without leaving the loop's
 * thread; a slot that finds none is free. When a request is due, the pacer wakes the slot; or the
 * loop finds the request, if the loop polls. Everything except the count of free slots is used on
 * the loop only.
 */
final class Lane {
  /** The time after which a request without an answer is an error. */
  static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /**
   * The pause of a slot whose connection failed, so that the server is not flooded with attempts.
   */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The time between two searches of a lane for requests that are too old. */
  static final long SWEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** The error kind of an unanswered request. */
  static final String TIMEOUT = "timeout";

  private static final long IDLE = Long.MIN_VALUE;

  private final Loop loop;
  private final Schedule schedule;
  private final LoopTally tally;
  private final KeyDraw keys;
  private final Ticker ticker;

  private final long[] dueNanos;
  private final long[] sentNanos;
  private final int[] freeSlots;
  private int stacked;
  private boolean flushing;

  /**
   * The number of free slots, never more than are on the stack: raised after a slot is put back,
   * lowered before one is taken.
   */
  private final AtomicInteger free;

  private @Nullable DoorClient client;

  Lane(Loop loop, Schedule schedule, LoopTally tally, KeyDraw keys, Ticker ticker, int slots) {
    this.loop = loop;
    this.schedule = schedule;
    this.tally = tally;
    this.keys = keys;
    this.ticker = ticker;
    this.dueNanos = new long[slots];
    this.sentNanos = new long[slots];
    this.freeSlots = new int[slots];
    for (int slot = 0; slot < slots; slot++) {
      freeSlots[slot] = slots - 1 - slot;
      sentNanos[slot] = IDLE;
    }
    this.stacked = slots;
    this.free = new AtomicInteger(slots);
  }

  Loop loop() {
    return loop;
  }

  int slots() {
    return dueNanos.length;
  }

  /** Returns the number of slots in use. For any thread. */
  int busy() {
    return dueNanos.length - free.get();
  }

  /** Gives a due request to a free slot; returns false if no slot is free. For any thread. */
  boolean offer(long nowNanos) {
    if (!reserve()) {
      return false;
    }
    long due = schedule.claim(nowNanos);
    if (due == Schedule.NONE) {
      free.incrementAndGet();
    } else {
      loop.execute(() -> startReserved(due));
    }
    return true;
  }

  private void startReserved(long due) {
    int slot = freeSlots[--stacked];
    if (client == null) {
      tally.started(due);
      tally.failed(due, "not connected");
      release(slot);
    } else {
      start(slot, due, ticker.nanos());
      if (!flushing) {
        flushing = true;
        loop.execute(this::flush);
      }
    }
  }

  /** Flushes the requests of one or several tasks of the pacer in one write. */
  private void flush() {
    flushing = false;
    if (client != null) {
      client.flush();
    }
  }

  /** Begins to use a connection. */
  void up(DoorClient connected) {
    client = connected;
    fill();
  }

  /** Ends the use of the connection for now; its client has reported every request that it lost. */
  void down() {
    if (client != null) {
      client = null;
      tally.connectionLost();
    }
  }

  /** Puts every free slot to work, as far as requests are due. */
  void fill() {
    fill(ticker.nanos());
  }

  /**
   * Puts every free slot to work, as far as requests are due at a given time.
   *
   * @return true if all slots are then in use, so that more requests may be due
   */
  boolean fill(long nowNanos) {
    boolean started = false;
    boolean full = true;
    while (client != null && reserve()) {
      long due = schedule.claim(nowNanos);
      if (due == Schedule.NONE) {
        free.incrementAndGet();
        full = false;
        break;
      }
      start(freeSlots[--stacked], due, nowNanos);
      started = true;
    }
    if (started && client != null) {
      client.flush();
    }
    return full;
  }

  /** Returns the current time, as the arrival of the answers that are being read. */
  long nanos() {
    return ticker.nanos();
  }

  /** Counts a decided request whose answer arrived at a given time. */
  void answered(int slot, boolean allowed, long nowNanos) {
    tally.answered(dueNanos[slot], nowNanos, allowed);
    next(slot, nowNanos);
  }

  /** Counts a request that was answered, but not with a decision. */
  void failed(int slot, String kind) {
    tally.failed(dueNanos[slot], kind);
    next(slot, ticker.nanos());
  }

  /** Counts a request that will not be answered. */
  void lost(int slot, String kind) {
    tally.failed(dueNanos[slot], kind);
    sentNanos[slot] = IDLE;
    loop.later(
        PAUSE_NANOS,
        () -> {
          next(slot, ticker.nanos());
          flush();
        });
  }

  /** Returns whether a request was sent too long ago. */
  boolean overdue(int slot) {
    return sentNanos[slot] != IDLE && ticker.nanos() - sentNanos[slot] >= TIMEOUT_NANOS;
  }

  /** Abandons requests that are not answered in time. */
  void sweep() {
    for (int slot = 0; slot < sentNanos.length && client != null; slot++) {
      if (overdue(slot)) {
        client.expire(slot);
      }
    }
  }

  private void next(int slot, long nowNanos) {
    long due = client == null ? Schedule.NONE : schedule.claim(nowNanos);
    if (due == Schedule.NONE) {
      release(slot);
    } else {
      start(slot, due, nowNanos);
    }
  }

  private void start(int slot, long due, long nowNanos) {
    dueNanos[slot] = due;
    sentNanos[slot] = nowNanos;
    tally.started(due);
    if (client != null) {
      client.send(slot, keys.next());
    }
  }

  private boolean reserve() {
    while (true) {
      int now = free.get();
      if (now == 0) {
        return false;
      }
      if (free.compareAndSet(now, now - 1)) {
        return true;
      }
    }
  }

  private void release(int slot) {
    sentNanos[slot] = IDLE;
    freeSlots[stacked++] = slot;
    free.incrementAndGet();
  }
}
