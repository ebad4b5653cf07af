package dev.weir.shared.internal;

import dev.weir.Policy;
import dev.weir.Reason;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Failure;
import dev.weir.shared.Result;
import dev.weir.shared.SharedBinding;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits of one binding's keys that this process has admitted and not yet recorded in the
 * store. Safe for use by many threads.
 */
public final class LocalCounts implements LocalAuthority {
  /*
   * How is LocalCounts designed, and why? A process admits by the store's last answer, less the
   * permits admitted since, for at most the sync interval; and at most A unrecorded permits, the
   * quota's share of that interval, at least one. Beyond either bound it records them in the store,
   * and the store decides. So the other processes lack at most A permits of it at any time, and the
   * excess in any window is at most A for each other process: a process whose last view had no room
   * admits nothing.
   *
   * The permits that a process admitted are recorded in the store before the store decides more for
   * it: an operation takes the unrecorded permits along, and waits for the answer of an earlier
   * record. A separate call would not suffice: calls overtake each other, if a thread of the client
   * sends what another put in its queue, or if one has to be sent again with the script.
   *
   * The process also admits nothing while a call is in flight: otherwise the store would decide
   * without those permits, and the excess would grow by A for this process too. A charge that could
   * be admitted here is held until the answers are there. Then all held charges are decided or sent
   * together, so however many come at once, none is held twice.
   *
   * Answers may overtake each other too. One that the store gave before the view does not replace
   * it: it lacks the permits that the store has counted for this process since.
   *
   * A request of several descriptors is decided by the store each time, and does not wait: in that
   * case the process's own unrecorded permits add at most A to the excess.
   *
   * A refusal admits nothing here, even if some permits remain by it: a cluster's leader may refuse
   * by a state that lacks entries not committed yet, among them this process's own record.
   *
   * A view and a refusal end like an allotment: as soon as the monotonic or the wall clock has
   * reached the end.
   *
   * A record is sent again if it is not known whether it arrived. It may then count twice, which
   * can only refuse.
   */
  /** The most keys with a count; the permits of other keys are requested one by one. */
  private static final int MOST_KEYS = 1 << 16;

  /** The most charges that wait for one key; far more than can be answered in time. */
  private static final int MOST_WAITING = 1 << 16;

  private final Policy policy;
  private final Clocks clocks;
  private final Counters counters;
  private final HeldKeys places;
  private final Consumer<? super Operation> store;
  private final long mostUnrecorded;
  private final Refusals refusals;
  private final Map<Long, Count> counts = new ConcurrentHashMap<>();
  private volatile long sweepAtNanos;

  /** True once permits admitted here would not be recorded any more. */
  private volatile boolean closed;

  /**
   * Creates the counts of a binding.
   *
   * @param held bounds the keys of all bindings
   * @param store sends operations on behalf of a binding
   */
  public LocalCounts(
      Policy policy,
      Clocks clocks,
      Counters counters,
      HeldKeys held,
      Consumer<? super Operation> store) {
    this.policy = policy;
    this.clocks = clocks;
    this.counters = counters;
    places = held;
    this.store = store;
    mostUnrecorded = mostUnrecorded(policy);
    refusals = new Refusals(clocks, counters, held, policy.sharing().syncIntervalNanos());
    sweepAtNanos = clocks.nanos();
  }

  /** Returns the most permits of a key that a process may admit before it records them. */
  public static long mostUnrecorded(Policy policy) {
    double share = (double) policy.sharing().syncIntervalNanos() / policy.quota().windowNanos();
    return Math.max(1, (long) (policy.quota().permits() * share));
  }

  @Override
  public void decide(
      SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback) {
    for (Count count = count(fingerprint); count != null; count = count(fingerprint)) {
      Result here = count.decide(permits);
      if (here != null) {
        callback.decided(here.fits() ? 1 : 0, here, here.remaining());
        return;
      }
      if (count.send(binding, permits, callback)) {
        return;
      }
      remove(fingerprint, count); // The count is gone.
    }
    store.accept(new DecideOne(binding, fingerprint, permits, 1, callback));
  }

  private @Nullable Count count(long fingerprint) {
    Count count = counts.get(fingerprint);
    if (count == null && !closed && counts.size() < MOST_KEYS) {
      count = counts.computeIfAbsent(fingerprint, key -> places.take() ? new Count(key) : null);
      if (count != null && closed) {
        count.leavePlace();
      }
    }
    return count;
  }

  private void remove(long fingerprint, Count gone) {
    if (counts.remove(fingerprint, gone)) {
      gone.leavePlace();
    }
  }

  @Override
  public long refund(long fingerprint, long permits, long atNanos) {
    Count count = counts.get(fingerprint);
    return count != null && count.takeBack(permits, atNanos) ? permits : NOT_HERE;
  }

  @Override
  public void forgetRefusal(long fingerprint) {
    refusals.forget(fingerprint);
  }

  @Override
  public void reset(long fingerprint) {
    Count count = counts.remove(fingerprint);
    if (count != null) {
      count.leavePlace();
      count.drop();
    }
    refusals.forget(fingerprint);
  }

  @Override
  public void tick(SharedBinding binding) {
    long now = clocks.nanos();
    if (now - sweepAtNanos < 0) {
      return;
    }
    counts.forEach(
        (fingerprint, count) -> {
          count.record(binding);
          if (count.idle(now)) {
            remove(fingerprint, count);
          }
        });
    refusals.sweep();
    // Last: a thread that sees this time sees all of this work done, or does it as well.
    sweepAtNanos = now + policy.sharing().syncIntervalNanos() / 2;
  }

  @Override
  public boolean idle() {
    return counts.isEmpty() && refusals.isEmpty();
  }

  @Override
  public boolean closed() {
    return closed;
  }

  @Override
  public void close(SharedBinding binding) {
    closed = true;
    for (Count count : counts.values()) {
      count.record(binding);
      count.leavePlace();
    }
    refusals.close();
  }

  /**
   * A charge that waits, until the permits admitted before it are recorded or because it is held.
   */
  private record WaitingCharge(
      SharedBinding binding, long permits, DecideOne.Callback callback, long askedAtNanos) {}

  /** The count of one key. */
  private final class Count {
    private final long fingerprint;
    private long unrecorded;

    /** The unrecorded permits that are in flight to the store. */
    private long recording;

    /** Permits that the store may be charging at the moment; the view may or may not have them. */
    private long asking;

    private final Queue<WaitingCharge> waiting = new ArrayDeque<>(1);

    /** Charges to be decided when no call is in flight any more; empty while there is none. */
    private final Queue<WaitingCharge> held = new ArrayDeque<>(1);

    private @Nullable Result view;
    private long viewRemaining;
    private Clocks.Instant viewedAt;
    private Clocks.Instant viewEnds;
    private long viewCameAtNanos;
    private boolean gone;

    /** True while it has one of the {@link #places}. */
    private boolean hasPlace = true;

    Count(long fingerprint) {
      this.fingerprint = fingerprint;
      viewedAt = clocks.now();
      viewEnds = viewedAt;
    }

    synchronized void leavePlace() {
      if (hasPlace) {
        hasPlace = false;
        places.giveBack();
      }
    }

    /** Decides by the view, or returns null if that does not suffice. */
    synchronized @Nullable Result decide(long permits) {
      return here(permits);
    }

    /** Returns whether that many permits could be admitted here if no call were in flight. */
    private boolean suffices(long permits) {
      return permits > 0
          && !clocks.reached(viewEnds)
          && permits <= Math.min(mostUnrecorded, viewRemaining - asking) - unrecorded;
    }

    private @Nullable Result here(long permits) {
      Result known = view;
      if (known == null || gone || closed || permits == 0) {
        return null;
      }
      Result refusal = refusals.recall(fingerprint, permits);
      if (refusal != null) {
        return refusal;
      }
      if (asking > 0 || !waiting.isEmpty() || !suffices(permits)) {
        return null;
      }
      unrecorded += permits;
      counters.held.increment();
      refusals.forget(fingerprint);
      return new Result(
          Reason.WITHIN_LIMIT,
          viewRemaining - unrecorded,
          0,
          known.resetAfterNanos(),
          known.atNanos());
    }

    /** Records all unrecorded permits in the store. */
    void record(SharedBinding binding) {
      AdmittedRecord record;
      synchronized (this) {
        record = newRecord(binding);
      }
      if (record != null) {
        store.accept(record);
      }
    }

    /** Returns the operation that records all unrecorded permits, or null if there are none. */
    private @Nullable AdmittedRecord newRecord(SharedBinding binding) {
      long permits = unrecorded - recording;
      if (permits == 0) {
        return null;
      }
      recording += permits;
      Clocks.Instant askedAt = clocks.now();
      return new AdmittedRecord(
          binding,
          fingerprint,
          permits,
          result -> recorded(permits, result, askedAt),
          failure -> notRecorded(permits, failure));
    }

    private void recorded(long permits, Result result, Clocks.Instant askedAt) {
      synchronized (this) {
        unrecorded -= permits;
        recording -= permits;
        update(result, result.remaining(), askedAt);
      }
      goOn();
    }

    /** Fails the waiting charges: the store must not decide without the permits before them. */
    private void notRecorded(long permits, Failure failure) {
      List<WaitingCharge> failed;
      synchronized (this) {
        recording -= permits;
        failed = List.copyOf(waiting);
        waiting.clear();
        failed.forEach(each -> asking -= each.permits);
      }
      try {
        Operation.deliverAll(failed, each -> each.callback.failed(failure));
      } finally {
        goOn();
      }
    }

    /**
     * Sends the charge to the store after all permits admitted here are recorded, or holds it.
     *
     * @return false if nothing is counted here any more
     */
    boolean send(SharedBinding binding, long permits, DecideOne.Callback callback) {
      boolean room;
      synchronized (this) {
        if (gone) {
          return false;
        }
        room = waiting.size() + held.size() < MOST_WAITING;
        if (room) {
          WaitingCharge charge = new WaitingCharge(binding, permits, callback, clocks.nanos());
          boolean hold = asking > 0 && !closed && (!held.isEmpty() || suffices(permits));
          if (hold && permits > 0) {
            held.add(charge);
          } else {
            sendWaiting(charge);
          }
        }
      }
      if (room) {
        goOn();
      } else {
        counters.failed(Failure.OVERLOADED, 1);
        callback.failed(Failure.OVERLOADED);
      }
      return true;
    }

    private void sendWaiting(WaitingCharge charge) {
      asking += charge.permits;
      waiting.add(charge);
    }

    /** Sends the waiting charges, and decides those that are held if no answer is missing. */
    private void goOn() {
      List<Runnable> decided = takeHeld();
      for (Operation next = next(); next != null; next = next()) {
        store.accept(next);
      }
      Operation.deliverAll(decided, Runnable::run);
    }

    /** Returns the answers of held charges that can be decided here; the others wait. */
    private synchronized List<Runnable> takeHeld() {
      if (asking > 0 || held.isEmpty()) {
        return List.of();
      }
      List<Runnable> decided = new ArrayList<>();
      for (WaitingCharge each = held.poll(); each != null; each = held.poll()) {
        Result here = here(each.permits);
        if (here == null) {
          sendWaiting(each);
        } else {
          DecideOne.Callback callback = each.callback;
          decided.add(() -> callback.decided(here.fits() ? 1 : 0, here, here.remaining()));
        }
      }
      return decided;
    }

    /** Returns the next operation to send, or null if there is none or it has to wait. */
    private synchronized @Nullable Operation next() {
      WaitingCharge first = recording == 0 ? waiting.poll() : null;
      if (first == null) {
        return null;
      }
      AdmittedRecord record = newRecord(first.binding);
      DecideOne single = new DecideOne(first.binding, fingerprint, first.permits, 1, seeing(first));
      Operation operation = record == null ? single : new OperationPair(record, single);
      operation.waitedNanos = clocks.nanos() - first.askedAtNanos;
      return operation;
    }

    private DecideOne.Callback seeing(WaitingCharge asking) {
      Clocks.Instant askedAt = clocks.now();
      return new DecideOne.Callback() {
        @Override
        public void decided(long times, Result result, long remaining) {
          answered(asking.permits, times, result, remaining, askedAt);
          try {
            asking.callback.decided(times, result, remaining);
          } finally {
            goOn();
          }
        }

        @Override
        public void failed(Failure failure) {
          unsent(asking.permits);
          try {
            asking.callback.failed(failure);
          } finally {
            goOn();
          }
        }
      };
    }

    private synchronized void answered(
        long permits, long times, Result result, long remaining, Clocks.Instant askedAt) {
      asking -= permits;
      update(result, times == 0 ? 0 : remaining, askedAt);
      if (times == 0 && !gone) {
        refusals.add(fingerprint, permits, result, askedAt);
      }
    }

    private synchronized void unsent(long permits) {
      asking -= permits;
    }

    private void update(Result result, long remaining, Clocks.Instant askedAt) {
      Result known = view;
      boolean cameMeanwhile = viewCameAtNanos - askedAt.nanos() >= 0;
      if (known != null && cameMeanwhile && older(result, remaining, known)) {
        return;
      }
      viewCameAtNanos = clocks.nanos();
      view = result;
      viewRemaining = remaining;
      viewedAt = askedAt;
      viewEnds = askedAt.plus(policy.sharing().syncIntervalNanos());
    }

    private boolean older(Result result, long remaining, Result known) {
      return result.atNanos() < known.atNanos()
          || (result.atNanos() == known.atNanos() && remaining > viewRemaining);
    }

    /** Admits nothing more here, and drops permits that are not in flight to the store. */
    synchronized void drop() {
      gone = true;
      unrecorded = recording;
    }

    /** Takes back permits admitted by the current view: older ones may not count any more. */
    synchronized boolean takeBack(long permits, long atNanos) {
      Result known = view;
      if (known == null || known.atNanos() != atNanos || permits > unrecorded - recording) {
        return false;
      }
      unrecorded -= permits;
      return true;
    }

    /** Returns true if nothing needs to be kept; from then on nothing is counted here any more. */
    synchronized boolean idle(long now) {
      boolean unused =
          unrecorded == 0
              && asking == 0
              && held.isEmpty()
              && now - viewedAt.nanos() > 2 * policy.sharing().syncIntervalNanos();
      gone |= unused; // Another thread may have found that too, and removed it.
      return gone;
    }
  }
}
