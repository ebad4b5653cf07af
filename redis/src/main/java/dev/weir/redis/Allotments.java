package dev.weir.redis;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Reason;
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
 * Permits of one limit's keys that this process took ahead of need. Safe for use by many threads.
 */
final class Allotments implements Holdings {
  /*
   * How is Allotments designed, and why? Redis charges an allotment when it gives it, at g. Its
   * permits may be granted here until it ends, at g + L at the latest, L being the sync interval; the
   * end is counted from when it was asked for, which is before g. So the permits granted within any
   * window (t - W, t] come from allotments given within (t - W - L, t], and Redis counts by a window of
   * W + L: no excess. Where windows begin by the clock, the allotment ends with its window instead, and
   * what was charged in a window is granted in it.
   *
   * How much to take: what is wanted at the moment and some ahead, twice as much as before when that
   * was gone in less than half of its life, half when most of it was left; but never more than a
   * part of what remains. So near the limit single permits are taken, and no process strands what
   * another could use. What is left at the end is given back.
   *
   * L is counted by two clocks, and over when the first of them says so. The monotonic one stands still
   * while the machine is suspended, when Redis's goes on; the wall clock may be set back. A wall clock
   * that is set ahead ends allotments early, which strands nothing: what is left is given back.
   *
   * A refusal says until when nothing fits; until then nobody is asked.
   */
  /** What one process takes ahead is at most this part of what remains. */
  private static final int PART_OF_REMAINING = 4;

  private static final long MOST_AHEAD = 1 << 20;

  /** Keys beyond this are asked for one by one. */
  private static final int MOST_KEYS = 1 << 16;

  private final Clocks clocks;
  private final Counters counters;
  private final Consumer<? super Question> redis;
  private final Policy policy;
  private final Map<Long, Allotment> allotments = new ConcurrentHashMap<>();
  private volatile long sweepAtNanos;

  /** Set when nobody ends allotments any more. */
  private volatile boolean closed;

  /**
   * @param redis asks on behalf of a limit
   */
  Allotments(Policy policy, Clocks clocks, Counters counters, Consumer<? super Question> redis) {
    this.policy = policy;
    this.clocks = clocks;
    this.counters = counters;
    this.redis = redis;
    sweepAtNanos = clocks.nanos() + policy.syncIntervalNanos();
  }

  @Override
  public void decide(RedisLimit limit, long fingerprint, long permits, Single.Asker asker) {
    Allotment allotment = allotments.get(fingerprint);
    if (allotment != null && permits > 0) {
      Result spent = allotment.spend(permits);
      if (spent != null) {
        counters.held.increment();
        asker.decided(1, spent, spent.remaining());
        return;
      }
    }
    boolean known = allotment != null || allotments.size() < MOST_KEYS;
    if (permits != 1 || !known || closed) {
      redis.accept(new Single(limit, fingerprint, permits, 1, asker));
    } else {
      allotments.computeIfAbsent(fingerprint, key -> new Allotment(key)).want(limit, asker);
    }
  }

  @Override
  public long refund(long fingerprint, long permits, long atNanos) {
    Allotment allotment = allotments.get(fingerprint);
    return allotment == null ? NOT_HERE : allotment.takeBack(permits, atNanos);
  }

  @Override
  public void tick(RedisLimit limit) {
    long now = clocks.nanos();
    if (now - sweepAtNanos < 0) {
      return;
    }
    sweepAtNanos = now + policy.syncIntervalNanos();
    allotments.forEach(
        (fingerprint, allotment) -> {
          allotment.endIfOver(limit);
          if (allotment.idle(now)) {
            allotments.remove(fingerprint, allotment);
          }
        });
  }

  @Override
  public void close(RedisLimit limit) {
    closed = true;
    allotments.values().forEach(allotment -> allotment.end(limit));
    allotments.clear();
  }

  /** One key's. */
  private final class Allotment implements Single.Asker {
    private final long fingerprint;
    private final AtomicLong left = new AtomicLong();

    /** Set before {@link #left}: whoever finds permits finds their end. */
    private volatile Clocks.Instant ends;

    private volatile @Nullable Result granted;
    private volatile Clocks.Instant refusedUntil;
    private volatile @Nullable Result refusal;
    private @Nullable RedisLimit limit;
    private final Deque<Single.Asker> waiting = new ArrayDeque<>();
    private boolean asking;
    private Clocks.Instant askedAt;
    private long asked;
    private long given;

    /** What Redis charged for the allotment. */
    private long charged;

    /** Set when nobody finds it any more. */
    private boolean gone;

    private long ahead;
    private long usedAtNanos;

    Allotment(long fingerprint) {
      this.fingerprint = fingerprint;
      ends = clocks.now();
      refusedUntil = ends;
      askedAt = ends;
    }

    /** Grants permits if there are so many. */
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

    /** Grants one permit, refuses it, or lets the asker wait for what Redis says. */
    void want(RedisLimit by, Single.Asker asker) {
      Clocks.Instant now = clocks.now();
      Result known = here();
      if (known == null) {
        synchronized (this) {
          // Permits may have come meanwhile.
          known = asking ? null : here();
          if (known == null) {
            limit = by;
            waiting.add(asker);
            if (asking) {
              return;
            }
            plan(now);
          }
        }
      }
      if (known == null) {
        ask(by);
      } else {
        counters.held.increment();
        asker.decided(known.fits() ? 1 : 0, known, known.remaining());
      }
    }

    /** Decides on one permit by what is known, or returns null. */
    private @Nullable Result here() {
      Result spent = spend(1);
      Result no = refusal;
      long refused = clocks.until(refusedUntil);
      if (spent != null || no == null || refused <= 0) {
        return spent;
      }
      return new Result(
          Reason.OVER_LIMIT, no.remaining(), refused, no.resetAfterNanos(), no.atNanos());
    }

    /** Finds out how much to ask for. */
    private void plan(Clocks.Instant now) {
      asking = true;
      usedAtNanos = now.nanos();
      long age = now.nanos() - askedAt.nanos();
      boolean goneEarly = left.get() == 0 && age < policy.syncIntervalNanos() / 2;
      if (given > 0 && goneEarly) {
        ahead = Math.min(MOST_AHEAD, Math.max(1, 2 * ahead));
      } else if (!goneEarly) {
        ahead = Math.min(ahead, Math.max(0, given - left.get())) / 2;
      }
      Result before = granted;
      long fair = before == null ? 0 : before.remaining() / PART_OF_REMAINING;
      asked = waiting.size() + Math.min(ahead, fair);
      askedAt = now;
    }

    private void ask(RedisLimit by) {
      endIfOver(by);
      redis.accept(new Single(by, fingerprint, 1, asked, this));
    }

    @Override
    public void decided(long times, Result result, long remaining) {
      List<Single.Asker> served = new ArrayList<>();
      List<Single.Asker> refused = new ArrayList<>();
      RedisLimit by;
      RedisLimit again = null;
      Refund back;
      boolean over;
      synchronized (this) {
        asking = false;
        given = times;
        by = Objects.requireNonNull(limit);
        // What was given back here meanwhile is not of this grant.
        back = unspent(by);
        Result said =
            new Result(
                result.reason(),
                remaining,
                result.retryAfterNanos(),
                result.resetAfterNanos(),
                result.atNanos());
        while (served.size() < times && !waiting.isEmpty()) {
          served.add(waiting.remove());
        }
        granted = said;
        charged = times;
        ends = askedAt.plus(lifeNanos(said));
        left.set(times - served.size());
        if (times < asked) {
          refused.addAll(waiting);
          waiting.clear();
          refusal = said;
          refusedUntil =
              said.retryAfterNanos() == Decision.NEVER
                  ? ends
                  : askedAt.plus(said.retryAfterNanos());
        } else if (!waiting.isEmpty()) {
          plan(clocks.now());
          again = by;
        }
        over = gone || closed;
      }
      Result yes =
          new Result(Reason.WITHIN_LIMIT, remaining, 0, result.resetAfterNanos(), result.atNanos());
      Result no =
          new Result(
              Reason.OVER_LIMIT,
              remaining,
              result.retryAfterNanos(),
              result.resetAfterNanos(),
              result.atNanos());
      if (back != null) {
        redis.accept(back);
      }
      if (over) {
        end(by);
      }
      if (again != null) {
        ask(again);
      }
      List<Runnable> answers = new ArrayList<>();
      served.forEach(each -> answers.add(() -> each.decided(1, yes, remaining)));
      refused.forEach(each -> answers.add(() -> each.decided(0, no, remaining)));
      Everyone.tell(answers, Runnable::run);
    }

    @Override
    public void failed(Failure failure) {
      List<Single.Asker> failing;
      synchronized (this) {
        asking = false;
        given = 0;
        failing = new ArrayList<>(waiting);
        waiting.clear();
      }
      Everyone.tell(failing, each -> each.failed(failure));
    }

    /** Returns for how long permits charged by that result may be granted. */
    private long lifeNanos(Result result) {
      long life = policy.syncIntervalNanos();
      long window = RedisLimit.wholeMicros(policy.quota().windowNanos());
      return switch (policy.algorithm()) {
        case SLIDING_WINDOW_COUNTER ->
            Math.min(life, window - Math.floorMod(result.atNanos(), window));
        case FIXED_WINDOW ->
            Math.min(
                life,
                policy.alignedToFirstRequest()
                    ? result.resetAfterNanos()
                    : window - Math.floorMod(result.atNanos(), window));
        default -> life;
      };
    }

    void endIfOver(RedisLimit by) {
      if (clocks.reached(ends) && left.get() > 0) {
        end(by);
      }
    }

    /** Gives back what is left. */
    void end(RedisLimit by) {
      Refund back = unspent(by);
      if (back != null) {
        redis.accept(back);
      }
    }

    /** Takes what is left, to be given back. */
    private synchronized @Nullable Refund unspent(RedisLimit by) {
      Result was = granted;
      long unspent = left.getAndSet(0);
      return was == null || unspent == 0
          ? null
          : new Refund(by, fingerprint, unspent, was.atNanos(), was.resetNanos());
    }

    /** Returns whether nothing is to be remembered; nothing is kept here any more then. */
    synchronized boolean idle(long now) {
      gone =
          !asking
              && left.get() == 0
              && clocks.reached(refusedUntil)
              && now - usedAtNanos > 2 * policy.syncIntervalNanos();
      return gone;
    }
  }
}
