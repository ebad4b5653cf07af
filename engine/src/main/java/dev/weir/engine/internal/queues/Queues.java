package dev.weir.engine.internal.queues;

import dev.weir.Algorithm;
import dev.weir.Decision;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.QueueMetrics;
import dev.weir.engine.Status;
import dev.weir.engine.Ticket;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for their turn: a queue for each key of a rule with {@code on_limit:
 * {queue: ...}}. Safe for use by many threads.
 */
public final class Queues implements AutoCloseable {
  /*
   * How does a request wait? It is a Waiter, which is in the queues of all keys to which it would
   * be charged and which have a queue. All queues are changed under one lock, so requests are in
   * all of them in the order in which they came; the one that has waited longest is therefore first
   * everywhere, so at least one can always be decided. For a waiter that is first in all of its
   * queues, its turn is scheduled after the retry-after of its last answer; it is then decided like
   * any request, and is charged for all of its keys or for none. For every waiter the end of its
   * time is scheduled.
   *
   * A waiting request is not charged: so it cannot admit too much, whatever fails, and leaving
   * costs nothing. It follows that the order holds in this process only, and that a request which
   * is first for one key and is refused for another holds up those behind it until its time is
   * over.
   *
   * Nothing else runs under the lock: neither the store nor a callback.
   *
   * A waiter keeps its whole request, which may be large. So there is a bound on the memory of all
   * of them together, beside the one on their number; usual requests never reach it. The head of an
   * HTTP request is not counted.
   */

  /** The bound on the average memory of waiting requests; a usual one takes 1 KiB. */
  static final long MEAN_BYTES = 16 << 10;

  /**
   * The time after which a seat may have been given back, by anyone: seats do not return by
   * themselves before they are lost.
   */
  private static final long SEAT_NANOS = 50_000_000L;

  /** The key of a rule. A queue remains when its rule changes. */
  public record Key(String rule, long fingerprint) {}

  /** A charge that a request would make to a key with a queue. */
  public record Place(Key key, QueueBounds bounds, long permits) {}

  /** The functions of an {@link Engine} that queues need. */
  public interface QueueEngine {
    /** Decides a request whose turn it is. */
    void decide(Request request, Consumer<? super Answer> done);

    /** Returns the places of a request, in no order, none if it cannot be decided. */
    List<Place> places(Request request);

    /** Estimates how long a key takes until {@code permits} permits are free, in nanoseconds. */
    void estimate(Request request, Key key, long permits, Consumer<? super Long> done);

    /** Gives back the charges of a request that has left. */
    void refund(Request request, Answer answer);
  }

  private static final class Line {
    final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();

    /** The permits of all waiters together. */
    long permits;

    boolean isFirst(Waiter waiter) {
      return waiters.iterator().next() == waiter;
    }
  }

  private enum State {
    WAITING,
    ASKING,
    /** It left while it was being decided: its answer is no longer wanted. */
    LEFT,
    ANSWERED
  }

  private final class Waiter implements Ticket {
    final Request request;
    final List<Place> places;
    final long sinceNanos;
    final long bytes;
    final Consumer<? super Answer> done;

    /** True if the waiter is not first, or its turn comes in time; for the thread that adds it. */
    boolean inTime = true;

    // The lock guards the following fields.
    State state = State.WAITING;
    Answer last;
    long askNanos;
    long endNanos;
    Ticker.ScheduledTask turn = () -> {};
    Ticker.ScheduledTask end = () -> {};

    Waiter(
        Request request,
        Answer refused,
        List<Place> places,
        long now,
        long wait,
        Consumer<? super Answer> done) {
      this.request = request;
      this.last = refused;
      this.places = places;
      this.sinceNanos = now;
      this.endNanos = now + wait;
      this.bytes = request.memoryBytes();
      this.askNanos = now + retryAfterNanos(refused);
      this.done = done;
    }

    @Override
    public boolean leave() {
      List<Waiter> next;
      lock.lock();
      try {
        if (state != State.WAITING && state != State.ASKING) {
          return false;
        }
        state = state == State.ASKING ? State.LEFT : State.ANSWERED;
        next = remove(this);
        left.increment();
      } finally {
        lock.unlock();
      }
      next.forEach(Queues.this::schedule);
      return true;
    }
  }

  private final QueueEngine asker;
  private final Ticker ticker;
  private final int maxWaiting;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Key, Line> lines = new HashMap<>();
  private final LongAdder admitted = new LongAdder();
  private final LongAdder refused = new LongAdder();
  private final LongAdder left = new LongAdder();
  private final LongAdder waitedNanos = new LongAdder();

  /** The number of waiting requests, written under the lock, read without it. */
  private final AtomicInteger waiting = new AtomicInteger();

  /** The memory of all waiters. Guarded by the lock. */
  private long bytes;

  private boolean closed;

  public Queues(QueueEngine asker, Ticker ticker, int maxWaiting) {
    this.asker = asker;
    this.ticker = ticker;
    this.maxWaiting = maxWaiting;
  }

  /** Returns whether no request waits: the usual case, in which nothing else has to be read. */
  public boolean isEmpty() {
    return waiting.get() == 0;
  }

  /** Returns the permits of all requests that wait for a key, 0 if there are none. */
  public long permitsAhead(Key key) {
    lock.lock();
    try {
      Line line = lines.get(key);
      return line == null ? 0 : Math.max(1, line.permits);
    } finally {
      lock.unlock();
    }
  }

  /** Queues a request, for {@link Decider#enqueue}. */
  public Ticket enqueue(
      Request request, Answer answer, long maxWaitNanos, Consumer<? super Answer> done) {
    long wait = Math.min(maxWaitNanos, answer.maxWaitNanos());
    List<Place> places = wait <= 0 ? List.of() : asker.places(request);
    if (places.isEmpty()) {
      done.accept(answer);
      return Ticket.USED;
    }
    long now = ticker.nanos();
    Waiter waiter = new Waiter(request, answer, places, now, wait, done);
    Map<Place, Long> ahead = new HashMap<>();
    if (!add(waiter, ahead)) {
      refused.increment();
      done.accept(answer);
      return Ticket.USED;
    }
    ahead.forEach(
        (place, permits) ->
            asker.estimate(
                request,
                place.key,
                permits + place.permits,
                nanos -> {
                  if (nanos > wait) {
                    giveUp(waiter);
                  }
                }));
    if (!waiter.inTime) {
      giveUp(waiter);
    }
    return waiter;
  }

  /** Adds a waiter to all of its queues, or to none if one has no room. */
  private boolean add(Waiter waiter, Map<Place, Long> ahead) {
    lock.lock();
    try {
      if (closed || waiting.get() >= maxWaiting || bytes + waiter.bytes > maxWaiting * MEAN_BYTES) {
        return false;
      }
      for (Place place : waiter.places) {
        Line line = lines.get(place.key);
        if (line != null && line.waiters.size() >= place.bounds.requests()) {
          return false;
        }
      }
      for (Place place : waiter.places) {
        Line line = lines.computeIfAbsent(place.key, first -> new Line());
        if (line.permits > 0) {
          ahead.put(place, line.permits); // The first waiter needs no estimate.
        }
        if (line.waiters.add(waiter)) {
          line.permits += place.permits;
        }
      }
      waiter.end = ticker.schedule(waiter.endNanos - waiter.sinceNanos, () -> timeOver(waiter));
      waiter.inTime = setTurn(waiter);
      bytes += waiter.bytes;
      waiting.incrementAndGet(); // Only now: a test that reads it moves the time.
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Removes a waiter; returns those that may have become the first. The lock is held. */
  private List<Waiter> remove(Waiter waiter) {
    waiter.turn.cancel();
    waiter.end.cancel();
    bytes -= waiter.bytes;
    waiting.decrementAndGet();
    List<Waiter> next = new ArrayList<>();
    for (Place place : waiter.places) {
      Line line = lines.get(place.key);
      if (line != null && line.waiters.remove(waiter)) {
        line.permits -= place.permits;
        if (line.waiters.isEmpty()) {
          lines.remove(place.key);
        } else {
          Waiter first = line.waiters.iterator().next();
          first.askNanos = ticker.nanos(); // Its retry-after counted those before it.
          next.add(first);
        }
      }
    }
    return next;
  }

  /**
   * Schedules the turn of a waiter that is first in all of its queues; if it comes too late, the
   * waiter gives up.
   */
  private void schedule(Waiter waiter) {
    boolean inTime;
    lock.lock();
    try {
      inTime = setTurn(waiter);
    } finally {
      lock.unlock();
    }
    if (!inTime) {
      giveUp(waiter);
    }
  }

  /**
   * Schedules the turn of a waiter that is first; returns false if it comes too late. The lock is
   * held.
   */
  private boolean setTurn(Waiter waiter) {
    if (waiter.state != State.WAITING || !isFirst(waiter)) {
      return true;
    }
    if (waiter.askNanos - waiter.endNanos > 0) {
      return false;
    }
    waiter.turn.cancel();
    waiter.turn =
        ticker.schedule(Math.max(0, waiter.askNanos - ticker.nanos()), () -> decide(waiter));
    return true;
  }

  private boolean isFirst(Waiter waiter) {
    for (Place place : waiter.places) {
      Line line = lines.get(place.key);
      if (line == null || !line.isFirst(waiter)) {
        return false;
      }
    }
    return true;
  }

  private void decide(Waiter waiter) {
    lock.lock();
    try {
      if (waiter.state != State.WAITING) {
        return;
      }
      waiter.state = State.ASKING;
    } finally {
      lock.unlock();
    }
    FirstAnswer first = new FirstAnswer(answer -> answered(waiter, answer));
    try {
      asker.decide(waiter.request, first);
    } catch (Throwable e) {
      first.failed(e, waiter.last.revision());
    }
  }

  private void answered(Waiter waiter, Answer answer) {
    boolean gone;
    boolean again;
    lock.lock();
    try {
      gone = waiter.state == State.LEFT;
      again = !gone && !answer.allowed() && answer.maxWaitNanos() > 0;
      if (again) {
        waiter.state = State.WAITING;
        waiter.last = answer;
        waiter.askNanos = ticker.nanos() + retryAfterNanos(answer);
      }
    } finally {
      lock.unlock();
    }
    if (gone) {
      if (answer.allowed()) {
        asker.refund(waiter.request, answer);
      }
    } else if (again) {
      schedule(waiter);
    } else {
      finish(waiter, answer, State.ASKING);
    }
  }

  /**
   * Decides a waiter once more if its turn comes at the very end of its time; otherwise it gives
   * up.
   */
  private void timeOver(Waiter waiter) {
    boolean turn;
    lock.lock();
    try {
      turn =
          waiter.state == State.WAITING && isFirst(waiter) && waiter.askNanos - ticker.nanos() <= 0;
    } finally {
      lock.unlock();
    }
    if (turn) {
      decide(waiter);
    } else {
      giveUp(waiter);
    }
  }

  /**
   * Answers a waiter with its last refusal; but if it is being decided, it receives that answer.
   */
  private void giveUp(Waiter waiter) {
    finish(waiter, null, State.WAITING);
  }

  /**
   * Answers a waiter if it is in the expected state, and schedules the next one.
   *
   * @param given null for its last refusal
   */
  private void finish(Waiter waiter, @Nullable Answer given, State expected) {
    List<Waiter> next;
    Answer answer;
    lock.lock();
    try {
      if (waiter.state != expected) {
        return;
      }
      waiter.state = State.ANSWERED;
      answer = given == null ? waiter.last : given;
      next = remove(waiter);
    } finally {
      lock.unlock();
    }
    (answer.allowed() ? admitted : refused).increment();
    waitedNanos.add(ticker.nanos() - waiter.sinceNanos);
    next.forEach(this::schedule);
    waiter.done.accept(answer);
  }

  /** Returns the time after which all rules that refused the request may let it pass. */
  private static long retryAfterNanos(Answer refused) {
    long longest = 0;
    for (Status status : refused.refusing()) {
      Decision decision = status.decision();
      CurrentLimit limit = status.currentLimit();
      if (decision != null && limit != null) {
        boolean seats = limit.policy().algorithm() == Algorithm.CONCURRENCY;
        long wait = decision.retryAfterNanos();
        longest = Math.max(longest, seats ? Math.min(wait, SEAT_NANOS) : wait);
      }
    }
    return longest;
  }

  public QueueMetrics metrics() {
    return new QueueMetrics(
        waiting.get(), admitted.sum(), refused.sum(), left.sum(), waitedNanos.sum());
  }

  /**
   * Accepts no more waiters, and ends the time of all in {@code nanos} nanoseconds. A waiter whose
   * turn would come later, by an estimate from the permits of those before it, is refused at once
   * with its last answer, and the others go on waiting.
   *
   * @param nanos at least 0
   */
  public void endWithin(long nanos) {
    Set<Waiter> all = new LinkedHashSet<>();
    lock.lock();
    try {
      closed = true;
      lines.values().forEach(line -> all.addAll(line.waiters));
      long end = ticker.nanos() + nanos;
      all.forEach(waiter -> endAt(waiter, end));
    } finally {
      lock.unlock();
    }
    List<Waiter> inOrder = new ArrayList<>(all);
    inOrder.sort(Comparator.comparingLong(waiter -> waiter.sinceNanos));
    Map<Key, Long> ahead = new HashMap<>();
    for (Waiter waiter : inOrder) {
      AtomicBoolean late = new AtomicBoolean();
      for (Place place : waiter.places) {
        asker.estimate(
            waiter.request,
            place.key,
            ahead.getOrDefault(place.key, 0L) + place.permits,
            wait -> {
              if (wait > nanos) {
                late.set(true);
                giveUp(waiter);
              }
            });
      }
      if (!late.get()) { // A store that answers later may refuse it later.
        waiter.places.forEach(place -> ahead.merge(place.key, place.permits, Long::sum));
      }
    }
  }

  /** Shortens a waiter's time. The lock is held. */
  private void endAt(Waiter waiter, long nanos) {
    if (waiter.endNanos - nanos > 0) {
      waiter.endNanos = nanos;
      waiter.end.cancel();
      waiter.end = ticker.schedule(Math.max(0, nanos - ticker.nanos()), () -> timeOver(waiter));
    }
  }

  /** Answers all waiters with their last refusal, and accepts no more. */
  @Override
  public void close() {
    List<Waiter> all = new ArrayList<>();
    lock.lock();
    try {
      closed = true;
      lines.values().forEach(line -> all.addAll(line.waiters));
    } finally {
      lock.unlock();
    }
    all.forEach(this::giveUp);
  }
}
