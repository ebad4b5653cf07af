package dev.weir.shared;

import dev.weir.Policy;
import dev.weir.Reason;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What this process admitted of one binding's keys and has not recorded in the store yet. Safe for
 * use by many threads.
 */
final class LocalCounts implements LocalAuthority {
  /*
   * How is LocalCounts designed, and why? A process admits by what the store said last, less what
   * it admitted since, for at most the sync interval; and never more unrecorded permits than A, the
   * quota's share of that interval, at least one. Beyond either it records them in the store and
   * has the store decide. So the other processes lack at most A permits of it at any time, and the
   * excess in any window is at most A for each other process: a process whose last view had no room
   * admits nothing.
   *
   * What a process admitted is recorded in the store before the store decides more for it: an
   * operation takes the unrecorded permits along, and waits for the answer of an earlier record. A
   * call of its own would not do: calls overtake each other, when a thread of the client's sends
   * what another put in its queue, or when one has to be sent again with the script.
   *
   * A request of several descriptors asks the store each time, and does not wait: the process's own
   * unrecorded permits add at most A to the excess then.
   *
   * A view and a refusal end as an allotment does: by the monotonic or the wall clock, the first of
   * them to say so.
   *
   * A record is sent again if it is not known whether it arrived. It may count twice then, which
   * can only refuse.
   */
  /** Keys beyond this are asked for one by one. */
  private static final int MOST_KEYS = 1 << 16;

  /** Far more than can be answered in time. */
  private static final int MOST_WAITING = 1 << 16;

  private final Policy policy;
  private final Clocks clocks;
  private final Counters counters;
  private final Consumer<? super Operation> store;
  private final long mostUnrecorded;
  private final Refusals refusals;
  private final Map<Long, Count> counts = new ConcurrentHashMap<>();
  private volatile long sweepAtNanos;

  /** Set when permits admitted here would not be recorded any more. */
  private volatile boolean closed;

  LocalCounts(Policy policy, Clocks clocks, Counters counters, Consumer<? super Operation> store) {
    this.policy = policy;
    this.clocks = clocks;
    this.counters = counters;
    this.store = store;
    mostUnrecorded = mostUnrecorded(policy);
    refusals = new Refusals(clocks, counters, policy.sharing().syncIntervalNanos());
    sweepAtNanos = clocks.nanos();
  }

  /** Returns how many permits of a key a process may admit before it records them. */
  static long mostUnrecorded(Policy policy) {
    double share = (double) policy.sharing().syncIntervalNanos() / policy.quota().windowNanos();
    return Math.max(1, (long) (policy.quota().permits() * share));
  }

  @Override
  public void decide(
      SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback) {
    Count count = counts.get(fingerprint);
    if (count == null && !closed && counts.size() < MOST_KEYS) {
      count = counts.computeIfAbsent(fingerprint, key -> new Count(key));
    }
    if (count == null) {
      store.accept(new DecideOne(binding, fingerprint, permits, 1, callback));
      return;
    }
    Result here = count.decide(permits);
    if (here != null) {
      callback.decided(here.fits() ? 1 : 0, here, here.remaining());
      return;
    }
    count.ask(binding, permits, callback);
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
    sweepAtNanos = now + policy.sharing().syncIntervalNanos() / 2;
    counts.forEach(
        (fingerprint, count) -> {
          count.record(binding);
          if (count.idle(now)) {
            counts.remove(fingerprint, count);
          }
        });
    refusals.sweep();
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
    counts.values().forEach(count -> count.record(binding));
    refusals.clear();
  }

  /** A charge that waits until the permits admitted before it are recorded. */
  private record Waiting(
      SharedBinding binding, long permits, DecideOne.Callback callback, long askedAtNanos) {}

  /** The count of one key. */
  private final class Count {
    private final long fingerprint;
    private long unrecorded;

    /** The unrecorded permits that are on their way to the store. */
    private long recording;

    /** Permits that the store may be giving at the moment; the view may or may not have them. */
    private long asking;

    private final Queue<Waiting> waiting = new ArrayDeque<>();
    private @Nullable Result view;
    private long viewRemaining;
    private Clocks.Instant viewedAt;
    private Clocks.Instant viewEnds;
    private boolean gone;

    Count(long fingerprint) {
      this.fingerprint = fingerprint;
      viewedAt = clocks.now();
      viewEnds = viewedAt;
    }

    /**
     * Decides by what is known, or returns null if that does not suffice and the store is asked.
     */
    synchronized @Nullable Result decide(long permits) {
      Result here = here(permits);
      if (here == null) {
        asking += permits;
      }
      return here;
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
      boolean fresh = !clocks.reached(viewEnds);
      boolean overtaking = !waiting.isEmpty();
      if (!fresh
          || overtaking
          || permits > Math.min(mostUnrecorded, viewRemaining - asking) - unrecorded) {
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

    /** Records in the store what is unrecorded. */
    void record(SharedBinding binding) {
      RecordAdmitted record;
      synchronized (this) {
        record = newRecord(binding);
      }
      if (record != null) {
        store.accept(record);
      }
    }

    /** Returns the operation that records all that is unrecorded, or null if nothing is. */
    private @Nullable RecordAdmitted newRecord(SharedBinding binding) {
      long permits = unrecorded - recording;
      if (permits == 0) {
        return null;
      }
      recording += permits;
      Clocks.Instant askedAt = clocks.now();
      return new RecordAdmitted(
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
        see(result, result.remaining(), askedAt);
      }
      askForThoseWhoWait();
    }

    /** Fails the charges that wait: the store must not decide without the permits before them. */
    private void notRecorded(long permits, Failure failure) {
      List<Waiting> failed;
      synchronized (this) {
        recording -= permits;
        failed = List.copyOf(waiting);
        waiting.clear();
        failed.forEach(each -> asking -= each.permits);
      }
      Operation.deliverAll(failed, each -> each.callback.failed(failure));
    }

    /** Has the store decide, after all that is admitted here is recorded. */
    void ask(SharedBinding binding, long permits, DecideOne.Callback callback) {
      boolean room;
      synchronized (this) {
        room = waiting.size() < MOST_WAITING;
        if (room) {
          waiting.add(new Waiting(binding, permits, callback, clocks.nanos()));
        } else {
          asking -= permits;
        }
      }
      if (room) {
        askForThoseWhoWait();
      } else {
        counters.failed(Failure.OVERLOADED, 1);
        callback.failed(Failure.OVERLOADED);
      }
    }

    private void askForThoseWhoWait() {
      for (Operation next = next(); next != null; next = next()) {
        store.accept(next);
      }
    }

    /** Returns what is to be asked next, or null if nothing is, or if it has to wait. */
    private synchronized @Nullable Operation next() {
      Waiting first = recording == 0 ? waiting.poll() : null;
      if (first == null) {
        return null;
      }
      RecordAdmitted record = newRecord(first.binding);
      DecideOne single = new DecideOne(first.binding, fingerprint, first.permits, 1, seeing(first));
      Operation operation = record == null ? single : new InSequence(record, single);
      operation.waitedNanos = clocks.nanos() - first.askedAtNanos;
      return operation;
    }

    private DecideOne.Callback seeing(Waiting asking) {
      Clocks.Instant askedAt = clocks.now();
      return new DecideOne.Callback() {
        @Override
        public void decided(long times, Result result, long remaining) {
          asked(asking.permits, times, result, remaining, askedAt);
          asking.callback.decided(times, result, remaining);
        }

        @Override
        public void failed(Failure failure) {
          notAsked(asking.permits);
          asking.callback.failed(failure);
        }
      };
    }

    private synchronized void asked(
        long permits, long times, Result result, long remaining, Clocks.Instant askedAt) {
      asking -= permits;
      see(result, remaining, askedAt);
      if (times == 0 && !gone) {
        refusals.remember(fingerprint, permits, result, askedAt);
      }
    }

    private synchronized void notAsked(long permits) {
      asking -= permits;
    }

    private void see(Result result, long remaining, Clocks.Instant askedAt) {
      view = result;
      viewRemaining = remaining;
      viewedAt = askedAt;
      viewEnds = askedAt.plus(policy.sharing().syncIntervalNanos());
    }

    /** Admits nothing more here, and forgets what is not on its way to the store. */
    synchronized void drop() {
      gone = true;
      unrecorded = recording;
    }

    /** Takes back what was admitted by what is known now: older permits may count no more. */
    synchronized boolean takeBack(long permits, long atNanos) {
      Result known = view;
      if (known == null || known.atNanos() != atNanos || permits > unrecorded - recording) {
        return false;
      }
      unrecorded -= permits;
      return true;
    }

    /** Returns whether nothing is to be remembered; nothing is counted here any more then. */
    synchronized boolean idle(long now) {
      gone =
          unrecorded == 0
              && asking == 0
              && now - viewedAt.nanos() > 2 * policy.sharing().syncIntervalNanos();
      return gone;
    }
  }
}
