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
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Allotments: permits of one binding's keys that this process charged in advance. Safe for use by
 * many threads.
 */
public final class Allotments implements LocalAuthority {
  /*
   * How is Allotments designed, and why? The store charges an allotment when it gives it, at g. Its
   * permits may be granted here until it ends, at g + L at the latest, L being the sync interval;
   * the end is counted from the time of the call, which is before g. So the permits granted within
   * any window (t - W, t] come from allotments given within (t - W - L, t], and the store counts by
   * a window of W + L: no excess. If windows begin by the clock, the allotment ends with its window
   * instead, and permits that were charged in a window are granted in it.
   *
   * The answer may come when the allotment is over. It then serves the requests that waited when it
   * was called for, since they were there when the store charged; later requests cause another
   * call.
   *
   * How large is an allotment? It has the permits of the waiting requests and some in advance:
   * twice as many as before if those were gone in less than half of their lifetime, half as many if
   * most of them were left; but at most a part of the remaining permits. So near the limit single
   * permits are taken, and no process strands permits that another could use. Permits that are left
   * at the end are given back.
   *
   * L is counted by two clocks and ends as soon as either of them has reached its end. The
   * monotonic one stands still while the machine is suspended, when the store's goes on; the wall
   * clock may be set back. A wall clock that is set ahead ends allotments early, which strands no
   * permits: the rest is given back.
   *
   * A refusal is repeated here as long as Refusals allows, at most for L. The remaining permits are
   * those left in the store and those left here: they fall by the granted permits while no other
   * process uses the key. Unspent permits are given back before more are requested, in the same
   * call.
   */
  /** The largest part of the remaining permits that one process takes in advance: one in 4. */
  private static final int PART_OF_REMAINING = 4;

  private static final long MOST_AHEAD = 1 << 20;

  /** The most keys with an allotment; the permits of other keys are requested one by one. */
  private static final int MOST_KEYS = 1 << 16;

  /** The most requests that wait for one key; far more than can be answered in time. */
  static final int MOST_WAITING = 1 << 16;

  private final Clocks clocks;
  private final Counters counters;
  private final HeldKeys held;
  private final Consumer<? super Operation> store;
  private final Policy policy;
  private final Map<Long, Allotment> allotments = new ConcurrentHashMap<>();
  private final Refusals refusals;
  private volatile long sweepAtNanos;

  /** True once allotments would not be ended any more. */
  private volatile boolean closed;

  /**
   * Creates the allotments of a binding.
   *
   * @param held bounds the keys of all bindings
   * @param store sends operations on behalf of a binding
   */
  public Allotments(
      Policy policy,
      Clocks clocks,
      Counters counters,
      HeldKeys held,
      Consumer<? super Operation> store) {
    this.policy = policy;
    this.clocks = clocks;
    this.counters = counters;
    this.held = held;
    this.store = store;
    refusals = new Refusals(clocks, counters, held, policy.sharing().syncIntervalNanos());
    sweepAtNanos = clocks.nanos() + policy.sharing().syncIntervalNanos();
  }

  @Override
  public void decide(
      SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback) {
    Allotment allotment = allotments.get(fingerprint);
    if (allotment != null && permits > 0) {
      Result spent = allotment.spend(permits);
      if (spent != null) {
        counters.held.increment();
        callback.decided(1, spent, spent.remaining());
        return;
      }
    }
    Allotment wanted = permits != 1 || closed ? null : allotment(fingerprint);
    if (wanted == null) {
      store.accept(new DecideOne(binding, fingerprint, permits, 1, callback));
      return;
    }
    wanted.take(binding, callback);
    if (closed) {
      remove(fingerprint, wanted); // Nothing would end it any more.
    }
  }

  /** Returns the allotment of a key, a new one if there was none; null if there is no room. */
  private @Nullable Allotment allotment(long fingerprint) {
    Allotment known = allotments.get(fingerprint);
    return known != null || allotments.size() >= MOST_KEYS
        ? known
        : allotments.computeIfAbsent(fingerprint, key -> held.take() ? new Allotment(key) : null);
  }

  private void remove(long fingerprint, Allotment gone) {
    if (allotments.remove(fingerprint, gone)) {
      held.giveBack();
    }
  }

  @Override
  public long refund(long fingerprint, long permits, long atNanos) {
    Allotment allotment = allotments.get(fingerprint);
    return allotment == null ? NOT_HERE : allotment.takeBack(permits, atNanos);
  }

  @Override
  public void forgetRefusal(long fingerprint) {
    refusals.forget(fingerprint);
  }

  @Override
  public void reset(long fingerprint) {
    Allotment allotment = allotments.remove(fingerprint);
    if (allotment != null) {
      held.giveBack();
      allotment.drop();
    }
    refusals.forget(fingerprint);
  }

  @Override
  public void tick(SharedBinding binding) {
    long now = clocks.nanos();
    if (now - sweepAtNanos < 0) {
      return;
    }
    allotments.forEach(
        (fingerprint, allotment) -> {
          allotment.endIfOver(binding);
          if (allotment.idle(now)) {
            remove(fingerprint, allotment);
          }
        });
    refusals.sweep();
    // Last: a thread that sees this time sees all of this work done, or does it as well.
    sweepAtNanos = now + policy.sharing().syncIntervalNanos();
  }

  @Override
  public boolean idle() {
    return allotments.isEmpty() && refusals.isEmpty();
  }

  @Override
  public boolean closed() {
    return closed;
  }

  @Override
  public void close(SharedBinding binding) {
    closed = true;
    allotments.forEach(
        (fingerprint, allotment) -> {
          allotment.end(binding);
          remove(fingerprint, allotment);
        });
    refusals.close();
  }

  /** The allotment of one key. */
  private final class Allotment implements DecideOne.Callback {
    private final long fingerprint;
    private final AtomicLong left = new AtomicLong();

    /**
     * The end of the permits, set before {@link #left}: a thread that sees permits also sees their
     * end.
     */
    private volatile Clocks.Instant ends;

    private volatile @Nullable Result granted;
    private @Nullable SharedBinding binding;
    private final Deque<DecideOne.Callback> waiting = new ArrayDeque<>(1);
    private boolean asking;
    private Clocks.Instant askedAt;
    private long asked;

    /** The number of requests that waited when the call was made. */
    private long waited;

    private long given;

    /** The permits that the store charged for the allotment. */
    private long charged;

    /** True once it has been removed from the map. */
    private volatile boolean gone;

    private long ahead;
    private long usedAtNanos;

    Allotment(long fingerprint) {
      this.fingerprint = fingerprint;
      ends = clocks.now();
      askedAt = ends;
    }

    /** Grants permits if that many are left. */
    @Nullable Result spend(long permits) {
      Result by = granted;
      if (clocks.reached(ends) || by == null) {
        return null;
      }
      for (long has = left.get(); has >= permits; has = left.get()) {
        if (left.compareAndSet(has, has - permits)) {
          return new Result(
              Reason.WITHIN_LIMIT,
              by.remaining() + has - permits,
              0,
              by.resetAfterNanos(),
              by.atNanos());
        }
      }
      return null;
    }

    synchronized long takeBack(long permits, long atNanos) {
      Result by = granted;
      boolean over = gone || closed || clocks.reached(ends);
      if (over || by == null || by.atNanos() != atNanos) {
        return NOT_HERE;
      }
      long back = Math.min(permits, charged - left.get());
      left.addAndGet(back);
      return back;
    }

    /** Grants one permit, refuses it, or keeps the callback until the store has answered. */
    void take(SharedBinding by, DecideOne.Callback callback) {
      Clocks.Instant now = clocks.now();
      Result known = here();
      boolean full = false;
      if (known == null) {
        synchronized (this) {
          // Permits may have come meanwhile.
          known = asking ? null : here();
          full = waiting.size() >= MOST_WAITING;
          if (known == null && !full) {
            binding = by;
            waiting.add(callback);
            if (asking) {
              return;
            }
            plan(now);
          }
        }
      }
      if (known == null && full) {
        counters.failed(Failure.OVERLOADED, 1);
        callback.failed(Failure.OVERLOADED);
      } else if (known == null) {
        request(by);
      } else {
        callback.decided(known.fits() ? 1 : 0, known, known.remaining());
      }
    }

    /** Decides on one permit without a call, or returns null. */
    private @Nullable Result here() {
      Result spent = spend(1);
      if (spent != null) {
        counters.held.increment();
        return spent;
      }
      return gone ? null : refusals.recall(fingerprint, 1);
    }

    /** Determines how many permits to request. */
    private void plan(Clocks.Instant now) {
      asking = true;
      usedAtNanos = now.nanos();
      long age = now.nanos() - askedAt.nanos();
      boolean goneEarly = left.get() == 0 && age < policy.sharing().syncIntervalNanos() / 2;
      if (given > 0 && goneEarly) {
        ahead = Math.min(MOST_AHEAD, Math.max(1, 2 * ahead));
      } else if (!goneEarly) {
        ahead = Math.min(ahead, Math.max(0, given - left.get())) / 2;
      }
      Result before = granted;
      long fair = before == null ? 0 : before.remaining() / PART_OF_REMAINING;
      waited = waiting.size();
      asked = waited + Math.min(ahead, fair);
      askedAt = now;
    }

    private void request(SharedBinding by) {
      DecideOne more = new DecideOne(by, fingerprint, 1, asked, this);
      Refund back = clocks.reached(ends) && left.get() > 0 ? unspent(by) : null;
      store.accept(back == null ? more : new OperationPair(back, more));
    }

    @Override
    public void decided(long times, Result result, long remaining) {
      List<DecideOne.Callback> served = new ArrayList<>();
      List<DecideOne.Callback> refused = new ArrayList<>();
      SharedBinding by;
      SharedBinding again = null;
      Refund back;
      boolean over;
      Result no =
          new Result(
              result.refusal(),
              remaining,
              result.retryAfterNanos(),
              result.resetAfterNanos(),
              result.atNanos());
      synchronized (this) {
        asking = false;
        given = times;
        by = Objects.requireNonNull(binding);
        // Permits that were given back here meanwhile do not belong to this grant.
        back = unspent(by);
        Result said =
            new Result(
                result.reason(),
                remaining,
                result.retryAfterNanos(),
                result.resetAfterNanos(),
                result.atNanos());
        granted = said;
        charged = times;
        ends = askedAt.plus(lifeNanos(said));
        long most = clocks.reached(ends) ? Math.min(times, waited) : times;
        while (served.size() < most && !waiting.isEmpty()) {
          served.add(waiting.remove());
        }
        left.set(times - served.size());
        if (times < asked) {
          refused.addAll(waiting);
          waiting.clear();
          if (!gone) {
            refusals.add(fingerprint, 1, no, askedAt);
          }
        } else if (!waiting.isEmpty()) {
          plan(clocks.now());
          again = by;
        }
        over = gone || closed;
      }
      if (back != null) {
        store.accept(back);
      }
      if (over) {
        end(by);
      }
      if (again != null) {
        request(again);
      }
      List<Runnable> answers = new ArrayList<>();
      for (int i = 0; i < served.size(); i++) {
        DecideOne.Callback each = served.get(i);
        // The results are as if each had been decided after the one before it.
        long left = remaining + times - i - 1;
        Result yes =
            new Result(Reason.WITHIN_LIMIT, left, 0, result.resetAfterNanos(), result.atNanos());
        answers.add(() -> each.decided(1, yes, left));
      }
      refused.forEach(each -> answers.add(() -> each.decided(0, no, remaining)));
      Operation.deliverAll(answers, Runnable::run);
    }

    @Override
    public void failed(Failure failure) {
      List<DecideOne.Callback> failing;
      synchronized (this) {
        asking = false;
        given = 0;
        failing = new ArrayList<>(waiting);
        waiting.clear();
      }
      Operation.deliverAll(failing, each -> each.failed(failure));
    }

    /** Returns the lifetime of permits charged by that result. */
    private long lifeNanos(Result result) {
      long life = policy.sharing().syncIntervalNanos();
      long window = wholeMicros(policy.quota().windowNanos());
      return switch (policy.algorithm()) {
        case SLIDING_WINDOW_COUNTER, FIXED_WINDOW ->
            Math.min(life, window - Math.floorMod(result.atNanos(), window));
        default -> life;
      };
    }

    /** Returns a length of time as the store counts it: in whole microseconds, as nanoseconds. */
    private static long wholeMicros(long nanos) {
      return -Math.floorDiv(-nanos, Result.NANOS_PER_MICRO) * Result.NANOS_PER_MICRO;
    }

    void endIfOver(SharedBinding by) {
      if (clocks.reached(ends) && left.get() > 0) {
        end(by);
      }
    }

    /** Ends the allotment without a refund: the store removes the state in which it was charged. */
    synchronized void drop() {
      gone = true;
      left.set(0);
    }

    /** Gives back the permits that are left. */
    void end(SharedBinding by) {
      Refund back = unspent(by);
      if (back != null) {
        store.accept(back);
      }
    }

    /** Takes the permits that are left, to give them back. */
    private synchronized @Nullable Refund unspent(SharedBinding by) {
      Result was = granted;
      long unspent = left.getAndSet(0);
      return was == null || unspent == 0
          ? null
          : new Refund(by, fingerprint, unspent, was.atNanos(), was.resetNanos());
    }

    /** Returns true if nothing needs to be kept; from then on nothing is kept here any more. */
    synchronized boolean idle(long now) {
      boolean unused =
          !asking
              && left.get() == 0
              && now - usedAtNanos > 2 * policy.sharing().syncIntervalNanos();
      gone |= unused; // Another thread may have found that too, and removed it.
      return gone;
    }
  }
}
