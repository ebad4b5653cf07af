package dev.weir.redis;

import dev.weir.Decision;
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
 * What this process admitted of one limit's keys and has not told yet. Safe for use by many
 * threads.
 */
final class LocalCounts implements Holdings {
  /*
   * How is LocalCounts designed, and why? A process admits by what Redis said last, less what it
   * admitted since, for at most the sync interval; and never more untold permits than A, the quota's
   * share of that interval, at least one. Beyond either it tells Redis and has Redis decide. So what
   * nobody else knows of a process is at most A at any time, and the excess in any window at most A
   * for each other process: whoever found the quota used up when Redis last told him admits nothing.
   *
   * What a process admitted is known to Redis before Redis decides more for it: a question takes what
   * is untold along, and waits for the answer of what is being told. To send it after would not do:
   * calls overtake each other, when a thread of the client's sends what another put in its queue, or
   * when one has to be sent again with the script.
   *
   * A request of several descriptors asks Redis each time, and does not wait: what is untold then is
   * A more, the process's own.
   *
   * How long a view and a refusal are good for is counted as an allotment's life is: by the monotonic
   * and the wall clock, whichever says first that it is over.
   *
   * Telling again what may have been told already counts it twice, which can only deny.
   */
  /** Keys beyond this are asked for one by one. */
  private static final int MOST_KEYS = 1 << 16;

  /** Far more than can be answered in time. */
  private static final int MOST_WAITING = 1 << 16;

  private final Policy policy;
  private final Clocks clocks;
  private final Counters counters;
  private final Consumer<? super Question> redis;
  private final long mostUntold;
  private final Map<Long, Count> counts = new ConcurrentHashMap<>();
  private volatile long sweepAtNanos;

  /** Set when nobody tells any more what would be admitted here. */
  private volatile boolean closed;

  LocalCounts(Policy policy, Clocks clocks, Counters counters, Consumer<? super Question> redis) {
    this.policy = policy;
    this.clocks = clocks;
    this.counters = counters;
    this.redis = redis;
    mostUntold = mostUntold(policy);
    sweepAtNanos = clocks.nanos();
  }

  /** Returns how many permits of a key a process may admit without having told of them. */
  static long mostUntold(Policy policy) {
    double share = (double) policy.syncIntervalNanos() / policy.quota().windowNanos();
    return Math.max(1, (long) (policy.quota().permits() * share));
  }

  @Override
  public void decide(RedisLimit limit, long fingerprint, long permits, Single.Asker asker) {
    Count count = counts.get(fingerprint);
    if (count == null && !closed && counts.size() < MOST_KEYS) {
      count = counts.computeIfAbsent(fingerprint, key -> new Count(key));
    }
    if (count == null) {
      redis.accept(new Single(limit, fingerprint, permits, 1, asker));
      return;
    }
    Result here = count.decide(permits);
    if (here != null) {
      counters.held.increment();
      asker.decided(here.fits() ? 1 : 0, here, here.remaining());
      return;
    }
    count.ask(limit, permits, asker);
  }

  @Override
  public long refund(long fingerprint, long permits, long atNanos) {
    Count count = counts.get(fingerprint);
    return count != null && count.takeBack(permits, atNanos) ? permits : NOT_HERE;
  }

  @Override
  public void tick(RedisLimit limit) {
    long now = clocks.nanos();
    if (now - sweepAtNanos < 0) {
      return;
    }
    sweepAtNanos = now + policy.syncIntervalNanos() / 2;
    counts.forEach(
        (fingerprint, count) -> {
          count.tell(limit);
          if (count.idle(now)) {
            counts.remove(fingerprint, count);
          }
        });
  }

  @Override
  public void close(RedisLimit limit) {
    closed = true;
    counts.values().forEach(count -> count.tell(limit));
  }

  /** Who waits until Redis knows what it must before it decides for him. */
  private record Waiting(RedisLimit limit, long permits, Single.Asker asker, long askedAtNanos) {}

  /** One key's. */
  private final class Count {
    private final long fingerprint;
    private long untold;

    /** Those of the untold that are being told. */
    private long telling;

    /** Permits that Redis may be giving at the moment; the view may or may not have them. */
    private long asking;

    private final Queue<Waiting> waiting = new ArrayDeque<>();
    private @Nullable Result view;
    private long viewRemaining;
    private Clocks.Instant viewedAt;
    private Clocks.Instant viewEnds;
    private long refusedPermits = Long.MAX_VALUE;
    private Clocks.Instant refusedUntil;
    private boolean gone;

    Count(long fingerprint) {
      this.fingerprint = fingerprint;
      viewedAt = clocks.now();
      viewEnds = viewedAt;
      refusedUntil = viewedAt;
    }

    /** Decides by what is known, or returns null if that does not suffice and Redis is asked. */
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
      // What is more may have to wait for longer.
      long refused = permits == refusedPermits ? clocks.until(refusedUntil) : 0;
      if (refused > 0) {
        return new Result(
            Reason.OVER_LIMIT,
            Math.max(0, viewRemaining - untold),
            refused,
            known.resetAfterNanos(),
            known.atNanos());
      }
      boolean fresh = !clocks.reached(viewEnds);
      boolean overtaking = !waiting.isEmpty();
      if (!fresh || overtaking || permits > Math.min(mostUntold, viewRemaining - asking) - untold) {
        return null;
      }
      untold += permits;
      return new Result(
          Reason.WITHIN_LIMIT, viewRemaining - untold, 0, known.resetAfterNanos(), known.atNanos());
    }

    /** Tells Redis of what it does not know. */
    void tell(RedisLimit limit) {
      Tell tell;
      synchronized (this) {
        tell = telling(limit);
      }
      if (tell != null) {
        redis.accept(tell);
      }
    }

    /** Returns what tells of all that is untold, or null if nothing is. */
    private @Nullable Tell telling(RedisLimit limit) {
      long told = untold - telling;
      if (told == 0) {
        return null;
      }
      telling += told;
      Clocks.Instant askedAt = clocks.now();
      return new Tell(
          limit,
          fingerprint,
          told,
          result -> told(told, result, askedAt),
          failure -> notTold(told, failure));
    }

    private void told(long told, Result result, Clocks.Instant askedAt) {
      synchronized (this) {
        untold -= told;
        telling -= told;
        see(result, result.remaining(), askedAt);
      }
      askForThoseWhoWait();
    }

    /** What Redis may not know of, it is not asked to decide with. */
    private void notTold(long told, Failure failure) {
      List<Waiting> failed;
      synchronized (this) {
        telling -= told;
        failed = List.copyOf(waiting);
        waiting.clear();
        failed.forEach(each -> asking -= each.permits);
      }
      Everyone.tell(failed, each -> each.asker.failed(failure));
    }

    /** Has Redis decide, which must know of all that is admitted here by then. */
    void ask(RedisLimit limit, long permits, Single.Asker asker) {
      boolean room;
      synchronized (this) {
        room = waiting.size() < MOST_WAITING;
        if (room) {
          waiting.add(new Waiting(limit, permits, asker, clocks.nanos()));
        } else {
          asking -= permits;
        }
      }
      if (room) {
        askForThoseWhoWait();
      } else {
        counters.failed(Failure.OVERLOADED, 1);
        asker.failed(Failure.OVERLOADED);
      }
    }

    private void askForThoseWhoWait() {
      for (Question next = next(); next != null; next = next()) {
        redis.accept(next);
      }
    }

    /** Returns what is to be asked next, or null if nothing is, or if it has to wait. */
    private synchronized @Nullable Question next() {
      Waiting first = telling == 0 ? waiting.poll() : null;
      if (first == null) {
        return null;
      }
      Tell tell = telling(first.limit);
      Single single = new Single(first.limit, fingerprint, first.permits, 1, seeing(first));
      Question question = tell == null ? single : new Both(tell, single);
      question.waitedNanos = clocks.nanos() - first.askedAtNanos;
      return question;
    }

    private Single.Asker seeing(Waiting asking) {
      Clocks.Instant askedAt = clocks.now();
      return new Single.Asker() {
        @Override
        public void decided(long times, Result result, long remaining) {
          asked(asking.permits, times, result, remaining, askedAt);
          asking.asker.decided(times, result, remaining);
        }

        @Override
        public void failed(Failure failure) {
          notAsked(asking.permits);
          asking.asker.failed(failure);
        }
      };
    }

    private synchronized void asked(
        long permits, long times, Result result, long remaining, Clocks.Instant askedAt) {
      asking -= permits;
      see(result, remaining, askedAt);
      if (times == 0 && permits > 0 && result.retryAfterNanos() != Decision.NEVER) {
        refusedPermits = permits;
        refusedUntil = askedAt.plus(result.retryAfterNanos());
      }
    }

    private synchronized void notAsked(long permits) {
      asking -= permits;
    }

    private void see(Result result, long remaining, Clocks.Instant askedAt) {
      view = result;
      viewRemaining = remaining;
      viewedAt = askedAt;
      viewEnds = askedAt.plus(policy.syncIntervalNanos());
    }

    /** Takes back what was admitted by what is known now: older permits may count no more. */
    synchronized boolean takeBack(long permits, long atNanos) {
      Result known = view;
      if (known == null || known.atNanos() != atNanos || permits > untold - telling) {
        return false;
      }
      untold -= permits;
      return true;
    }

    /** Returns whether nothing is to be remembered; nothing is counted here any more then. */
    synchronized boolean idle(long now) {
      gone =
          untold == 0
              && asking == 0
              && clocks.reached(refusedUntil)
              && now - viewedAt.nanos() > 2 * policy.syncIntervalNanos();
      return gone;
    }
  }
}
