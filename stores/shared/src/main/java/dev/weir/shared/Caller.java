package dev.weir.shared;

import dev.weir.Ticker;
import dev.weir.shared.internal.Health;
import dev.weir.shared.internal.LateCharges;
import dev.weir.shared.internal.MovedOperations;
import dev.weir.shared.internal.Operation;
import dev.weir.shared.internal.Refund;
import dev.weir.shared.internal.Turns;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The sender of many threads' operations to a shard, in as few calls as possible. Safe for use by
 * many threads.
 */
public final class Caller {
  /*
   * How is Caller designed, and why? Operations queue up. A thread that finds fewer calls in flight
   * than are allowed takes all waiting operations, up to a bound, and sends them as one call; it
   * does not wait for more. So a single operation is sent at once, and the busier the shard, the
   * more operations share a call. A batch holds sending back until all of it is in the queue:
   * otherwise its first operation would be sent alone, and the rest would wait for the answer.
   * Operations for the same permits of one key become one with a count: a hot key costs one round
   * trip, however many threads request it. Other operations are merged only into the last one for a
   * key, so those that differ are decided in the order in which they came.
   *
   * An operation belongs to one thread at a time: the one that takes it out of the queue, or that
   * turns its call from pending to over. So it is answered or failed once. A reply that comes after
   * the deadline is still read, to give back the permits that it charged (LateCharges).
   */
  /** The most operations in the queue; far more than can be answered in time. */
  private static final int MOST_QUEUED = 1 << 16;

  private static final long CLOSING_STEP_NANOS = 1_000_000L;

  private final Shard shard;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final Counters counters;
  private final Turns turns;
  private final Health health;

  /** The receiver of keys that the shard cannot count. */
  private final Operation.Keys uncountable;

  private final Queue<Operation> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final Pump pump = new Pump(this::sendAll);
  private final AtomicLong numbers = new AtomicLong();

  /** The calls in flight by number, so that if several fail at once, the oldest fails first. */
  private final Map<Long, Flight> pending = new ConcurrentSkipListMap<>();

  private final LateCharges late = new LateCharges();

  /** The instant from which on late charges are given back although replies are missing. */
  private volatile long lateUntilNanos;

  private volatile boolean closed;

  /** Creates a caller for a shard, which is probed first. */
  public Caller(Shard shard, StoreSettings settings) {
    this.shard = shard;
    counters = settings.counters();
    ticker = settings.clocks().monotonic();
    timeoutNanos = settings.timeoutNanos();
    turns = new Turns(shard, ticker, timeoutNanos);
    health = new Health(shard, settings, turns);
    uncountable = health::cannotCount;
  }

  /** Returns whether the shard is called: its breaker is closed. */
  public boolean available() {
    return !health.givenUp();
  }

  /** Returns the reason why the shard is not called, in words; empty if it is. */
  public String problem() {
    return health.problem();
  }

  /** Returns the number of operations that wait to be sent. */
  public int queued() {
    return queued.get();
  }

  /**
   * Sends an operation; the answer comes on the thread that reads it, a failure may come on this
   * one.
   */
  public void send(Operation operation) {
    if (health.givenUp() || closed) {
      fail(operation, Failure.OPEN);
    } else if (operation.waitedNanos > timeoutNanos / 2) {
      fail(operation, Failure.TIMEOUT); // Too little time is left for all that share its call.
    } else if (queued.incrementAndGet() > MOST_QUEUED) {
      queued.decrementAndGet();
      fail(operation, Failure.OVERLOADED);
    } else {
      operation.lateBeforeNanos = turns.lateNanos();
      operation.deadlineNanos = ticker.nanos() + timeoutNanos - operation.waitedNanos;
      queue.add(operation);
      pump.run();
    }
  }

  private void fail(Operation operation, Failure failure) {
    counters.failed(failure, operation.charges());
    try {
      operation.fail(failure);
    } catch (RuntimeException e) {
      health.callerFailed(e);
    }
  }

  /**
   * Holds back all operations until {@link #release}, from whichever thread they come.
   *
   * @return true if they are held back, and {@link #release} must be called; see {@link Pump#hold}
   */
  boolean hold() {
    return pump.hold();
  }

  /** Ends the hold, and sends waiting operations, as far as more calls may be in flight. */
  void release() {
    pump.release();
  }

  /** Sends waiting operations, as far as more calls may be in flight. */
  private void sendAll() {
    while (!queue.isEmpty() && inFlight.get() < shard.maxInFlight()) {
      send();
    }
  }

  /** A key of a limit, which has one state. */
  private record Key(String name, long fingerprint) {
    static Key of(SharedBinding binding, long fingerprint) {
      return new Key(binding.name(), fingerprint);
    }
  }

  /** Takes waiting operations, and sends one call for each slot. */
  private void send() {
    Map<Integer, Flight> calls = new LinkedHashMap<>();
    Map<Key, Operation> last = new HashMap<>();
    for (int taken = 0; taken < shard.maxCharges(); ) {
      Operation operation = queue.poll();
      if (operation == null) {
        break;
      }
      queued.decrementAndGet();
      Operation same = last.get(Key.of(operation.binding(), operation.fingerprint()));
      if (same != null && same.merge(operation)) {
        if (operation.deadlineNanos - same.deadlineNanos < 0) { // The key is requested once more.
          same.deadlineNanos = operation.deadlineNanos;
          same.lateBeforeNanos = operation.lateBeforeNanos;
        }
        counters.merged.increment();
        continue;
      }
      operation.forEachKey(
          (binding, fingerprint) -> last.put(Key.of(binding, fingerprint), operation));
      taken += operation.charges();
      // Operations with a time of their own are sent one by one.
      int slot =
          operation.nowNanos == Call.SHARDS_TIME
              ? shard.slot(operation.binding(), operation.fingerprint())
              : -1 - taken;
      calls.computeIfAbsent(slot, s -> new Flight()).operations.add(operation);
    }
    for (Flight call : calls.values()) {
      call.send();
    }
  }

  /** Fails operations that have waited too long, and probes a shard whose breaker is open. */
  public void tick() {
    if (health.givenUp()) {
      for (Operation left = queue.poll(); left != null; left = queue.poll()) {
        queued.decrementAndGet();
        fail(left, Failure.OPEN);
      }
    }
    turns.tick(!idle() || health.probing(), this::expire);
    if (!closed) {
      health.probeIfDue();
    }
    pump.run();
  }

  /** Fails operations that have waited too long. */
  private void expire() {
    for (Operation head = queue.peek(); head != null; head = queue.peek()) {
      if (!turns.over(head.deadlineNanos, head.lateBeforeNanos) || !queue.remove(head)) {
        break;
      }
      queued.decrementAndGet();
      fail(head, Failure.TIMEOUT);
    }
    for (Flight call : pending.values()) {
      if (turns.over(call.deadlineNanos, call.lateBeforeNanos)) {
        call.expire(Failure.TIMEOUT);
      }
    }
    health.expire();
    giveBack();
    pump.run();
  }

  /** Gives back late charges, once the other late replies are there, or have had the time. */
  private void giveBack() {
    if (late.isEmpty() || !(late.isComplete() || ticker.nanos() - lateUntilNanos >= 0)) {
      return;
    }
    Map<Integer, Flight> calls = new LinkedHashMap<>();
    for (Refund each : late.take()) {
      each.lateBeforeNanos = turns.lateNanos();
      each.deadlineNanos = ticker.nanos() + timeoutNanos;
      int slot = shard.slot(each.binding(), each.fingerprint());
      calls.computeIfAbsent(slot, s -> new Flight()).operations.add(each);
    }
    // At once: the shard has just replied, even if no probe has found that out yet.
    calls.values().forEach(Flight::send);
  }

  /** Fails all calls in flight, since the connection is gone. */
  public void disconnected() {
    health.disconnected();
    for (Flight call : pending.values()) {
      call.expire(Failure.DISCONNECTED);
    }
    tick();
  }

  /** Accepts no more operations. Those that wait already are still sent, and answered in time. */
  void refuse() {
    closed = true;
  }

  /**
   * Stops several callers: they accept no more operations. Waits until all their operations are
   * answered, at most {@code mostNanos} of real time even if the thread is interrupted, and fails
   * the rest.
   */
  public static void closeAll(Collection<Caller> callers, long mostNanos) {
    closeAll(callers, mostNanos, Ticker.system());
  }

  static void closeAll(Collection<Caller> callers, long mostNanos, Ticker ticker) {
    callers.forEach(Caller::refuse);
    long beginNanos = ticker.nanos();
    boolean interrupted = false;
    while (!callers.stream().allMatch(Caller::idle) && ticker.nanos() - beginNanos < mostNanos) {
      interrupted |= Thread.interrupted(); // Else the thread would not park.
      LockSupport.parkNanos(CLOSING_STEP_NANOS);
    }
    callers.forEach(Caller::close);
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fails all operations that have no answer yet. */
  void close() {
    refuse();
    for (Operation left = queue.poll(); left != null; left = queue.poll()) {
      queued.decrementAndGet();
      fail(left, Failure.OPEN);
    }
    for (Flight call : pending.values()) {
      call.expire(Failure.DISCONNECTED);
    }
  }

  /** Returns whether no operation waits or is in flight. */
  public boolean idle() {
    return pending.isEmpty() && queue.isEmpty() && late.isEmpty();
  }

  /** One call in flight. */
  private final class Flight {
    private final long number = numbers.getAndIncrement();
    private final List<Operation> operations = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private long deadlineNanos;
    private long lateBeforeNanos;

    void send() {
      Call call = shard.newCall();
      for (Operation operation : operations) {
        operation.write(call);
      }
      Operation first = operations.get(0);
      for (Operation operation : operations) {
        first = operation.deadlineNanos - first.deadlineNanos < 0 ? operation : first;
      }
      deadlineNanos = first.deadlineNanos;
      lateBeforeNanos = first.lateBeforeNanos;
      inFlight.incrementAndGet();
      pending.put(number, this);
      counters.calls.increment();
      long now = operations.get(0).nowNanos;
      Health.<Reply>orFailed(() -> call.send(now)).whenComplete(this::replied);
    }

    private void replied(@Nullable Reply reply, @Nullable Throwable error) {
      boolean inTime = !over.getAndSet(true);
      if (inTime) {
        leave();
      }
      Failure failure = reply == null ? Health.failure(error) : read(reply);
      if (failure == null && inTime) {
        health.succeeded();
        answer();
      } else if (failure == null) {
        undo();
      } else {
        burn(failure);
        if (inTime) {
          failed(failure, error == null ? "" : Health.words(error));
        }
      }
      if (!inTime) {
        late.replied();
        giveBack();
      }
      pump.run();
    }

    private @Nullable Failure read(Reply reply) {
      boolean ownTime = operations.get(0).nowNanos == Call.SHARDS_TIME;
      return health.read(
          reply, ownTime, rest -> operations.forEach(operation -> operation.read(rest)));
    }

    private void answer() {
      for (Operation operation : operations) {
        if (operation.moved()) {
          moved(operation);
          continue;
        }
        operation.forEachUncountable(uncountable);
        if (operation.isUncountable()) {
          fail(operation, Failure.STATE);
          continue;
        }
        int uncounted = operation.uncountableCharges();
        counters.failed(Failure.STATE, uncounted);
        counters.decided.add(operation.charges() - uncounted);
        try {
          operation.answer();
        } catch (RuntimeException e) {
          health.callerFailed(e);
        }
      }
    }

    private void moved(Operation operation) {
      MovedOperations elsewhere = operation.elsewhere;
      if (elsewhere == null) {
        fail(operation, Failure.MOVED);
        return;
      }
      try {
        elsewhere.add(operation, Caller.this);
      } catch (RuntimeException e) {
        health.callerFailed(e);
      }
    }

    /** Collects permits that were charged for requests that have been answered otherwise. */
    private void undo() {
      for (Operation operation : operations) {
        for (Refund refund : operation.undo()) {
          refund.then(
              given -> {
                counters.late.add(given);
                counters.burned.add(refund.requested() - given);
              });
          if (late.isEmpty()) {
            lateUntilNanos = ticker.nanos() + timeoutNanos;
          }
          late.add(refund);
        }
      }
    }

    private void burn(Failure failure) {
      for (Operation operation : operations) {
        counters.burned.add(failure.harmless ? 0 : operation.permits());
      }
    }

    void expire(Failure failure) {
      if (!over.getAndSet(true)) {
        late.expired();
        leave();
        failed(failure, "");
      }
    }

    private void leave() {
      pending.remove(number);
      inFlight.decrementAndGet();
    }

    private void failed(Failure failure, String words) {
      health.failed(failure, words);
      for (Operation operation : operations) {
        fail(operation, failure);
      }
    }
  }
}
