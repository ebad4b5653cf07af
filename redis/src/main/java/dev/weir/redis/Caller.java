package dev.weir.redis;

import dev.weir.Ticker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Asks a shard what many threads want to know, in as few calls as there can be. Safe for use by
 * many threads.
 */
final class Caller {
  /*
   * How is Caller designed, and why? Questions queue up. Whoever finds fewer calls on their way than
   * there may be takes all that wait, a bounded number, and sends them as one call; nobody waits for
   * more to come. So a lone question goes at once, and the busier the shard, the more questions
   * share a call. Questions for the same permits of one key become one, asked for so many times: what
   * a hot key costs is a call's round trip, however many want it.
   *
   * A question belongs to one thread at a time: who takes it out of the queue, or who turns its call
   * from pending to over. So it is answered or failed once. What comes after the deadline is read
   * nevertheless, to give back what nobody waits for any more.
   */
  /** As many as make the cost of a call small beside theirs, and a script that is still short. */
  private static final int MOST_CHARGES = 128;

  /** Far more than can be answered in time. */
  private static final int MOST_QUEUED = 1 << 16;

  private final Shard shard;
  private final Ticker ticker;
  private final long timeoutNanos;
  private final Counters counters;
  private final Turns turns;
  private final Health health;
  private final Queue<Question> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger pumping = new AtomicInteger();
  private final Map<Call, Boolean> pending = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Caller(Shard shard, LinkSettings settings, Counters counters) {
    this.shard = shard;
    this.counters = counters;
    ticker = settings.ticker();
    timeoutNanos = settings.timeoutNanos();
    turns = new Turns(shard, ticker, timeoutNanos);
    health = new Health(shard, settings, counters, turns);
  }

  boolean available() {
    return !health.givenUp();
  }

  /** Returns why the shard is not asked, in words; empty if it is. */
  String problem() {
    return health.problem();
  }

  int queued() {
    return queued.get();
  }

  /** Asks; the answer comes on whichever thread has it, this one if there will be none. */
  void ask(Question question) {
    if (health.givenUp() || closed) {
      fail(question, Failure.OPEN);
    } else if (question.waitedNanos > timeoutNanos / 2) {
      fail(question, Failure.TIMEOUT); // The rest would be too short for all that share its call.
    } else if (queued.incrementAndGet() > MOST_QUEUED) {
      queued.decrementAndGet();
      fail(question, Failure.OVERLOADED);
    } else {
      question.lateBeforeNanos = turns.lateNanos();
      question.deadlineNanos = ticker.nanos() + timeoutNanos - question.waitedNanos;
      queue.add(question);
      pump();
    }
  }

  private void fail(Question question, Failure failure) {
    counters.failed(failure, question.charges());
    try {
      question.fail(failure);
    } catch (RuntimeException e) {
      health.callerFailed(e);
    }
  }

  private void pump() {
    if (pumping.getAndIncrement() != 0) {
      return;
    }
    int missed = 1;
    do {
      while (!queue.isEmpty() && inFlight.get() < shard.maxInFlight()) {
        send();
      }
      missed = pumping.addAndGet(-missed);
    } while (missed != 0);
  }

  /** Takes what waits, and sends one call for each slot. */
  private void send() {
    Map<Integer, Call> calls = new HashMap<>();
    Map<Object, Question> merging = new HashMap<>();
    for (int taken = 0; taken < MOST_CHARGES; ) {
      Question question = queue.poll();
      if (question == null) {
        break;
      }
      queued.decrementAndGet();
      Object key = question.mergeKey();
      Question same = key == null ? null : merging.putIfAbsent(key, question);
      if (same != null && same.nowMicros == question.nowMicros) {
        same.merge(question);
        counters.merged.increment();
        continue;
      }
      taken += question.charges();
      // Times of the callers' own are told one by one.
      int slot = question.nowMicros == Message.NO_TIME ? shard.slot(question.key()) : -1 - taken;
      calls.computeIfAbsent(slot, s -> new Call()).questions.add(question);
    }
    for (Call call : calls.values()) {
      call.send();
    }
  }

  /** Fails what has waited for too long, and probes a shard that was given up on. */
  void tick() {
    if (health.givenUp()) {
      for (Question left = queue.poll(); left != null; left = queue.poll()) {
        queued.decrementAndGet();
        fail(left, Failure.OPEN);
      }
    }
    turns.tick(!idle() || health.probing(), this::expire);
    if (!closed) {
      health.probeIfDue();
    }
    pump();
  }

  /** Fails what has waited for too long. */
  private void expire() {
    for (Question head = queue.peek(); head != null; head = queue.peek()) {
      if (!turns.over(head.deadlineNanos, head.lateBeforeNanos) || !queue.remove(head)) {
        break;
      }
      queued.decrementAndGet();
      fail(head, Failure.TIMEOUT);
    }
    for (Call call : pending.keySet()) {
      if (turns.over(call.deadlineNanos, call.lateBeforeNanos)) {
        call.expire(Failure.TIMEOUT);
      }
    }
    health.expire();
    pump();
  }

  /** Takes note that the connection is gone, and with it what was asked. */
  void disconnected() {
    health.disconnected();
    for (Call call : pending.keySet()) {
      call.expire(Failure.DISCONNECTED);
    }
    tick();
  }

  /** Takes no more questions. What waits already is still sent, and answered in time. */
  void refuse() {
    closed = true;
  }

  /** Fails whatever has no answer yet. */
  void close() {
    refuse();
    for (Question left = queue.poll(); left != null; left = queue.poll()) {
      queued.decrementAndGet();
      fail(left, Failure.OPEN);
    }
    for (Call call : pending.keySet()) {
      call.expire(Failure.DISCONNECTED);
    }
  }

  /** Returns whether nothing is on its way. */
  boolean idle() {
    return pending.isEmpty() && queue.isEmpty();
  }

  /** One call of the script. */
  private final class Call {
    private final List<Question> questions = new ArrayList<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private long deadlineNanos;
    private long lateBeforeNanos;

    void send() {
      Message message = new Message();
      for (Question question : questions) {
        question.write(message);
      }
      Question first = questions.get(0);
      for (Question question : questions) {
        first = question.deadlineNanos - first.deadlineNanos < 0 ? question : first;
      }
      deadlineNanos = first.deadlineNanos;
      lateBeforeNanos = first.lateBeforeNanos;
      inFlight.incrementAndGet();
      pending.put(this, true);
      counters.calls.increment();
      byte[] bytes = message.toBytes(questions.get(0).nowMicros);
      Health.orFailed(() -> shard.call(message.keys(), bytes)).whenComplete(this::replied);
    }

    private void replied(byte @Nullable [] reply, @Nullable Throwable error) {
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
          failed(failure, error == null ? "" : Causes.words(error));
        }
      }
      pump();
    }

    private @Nullable Failure read(byte[] reply) {
      boolean ownTime = questions.get(0).nowMicros == Message.NO_TIME;
      return health.read(
          reply, ownTime, rest -> questions.forEach(question -> question.read(rest)));
    }

    private void answer() {
      for (Question question : questions) {
        if (question.undecided()) {
          fail(question, Failure.STATE);
          continue;
        }
        int unknown = question.unknown();
        counters.failed(Failure.STATE, unknown);
        counters.decided.add(question.charges() - unknown);
        try {
          question.answer();
        } catch (RuntimeException e) {
          health.callerFailed(e);
        }
      }
    }

    /**
     * Gives back what was charged for those who have been told otherwise: at once, for whoever
     * answered this is there, even if a probe has not found out yet.
     */
    private void undo() {
      Call back = new Call();
      for (Question question : questions) {
        for (Refund refund : question.undo()) {
          counters.late.add(refund.asked());
          refund.lateBeforeNanos = turns.lateNanos();
          refund.deadlineNanos = ticker.nanos() + timeoutNanos;
          back.questions.add(refund);
        }
      }
      if (!back.questions.isEmpty()) {
        back.send();
      }
    }

    private void burn(Failure failure) {
      for (Question question : questions) {
        counters.burned.add(failure.harmless ? 0 : question.permits());
      }
    }

    void expire(Failure failure) {
      if (!over.getAndSet(true)) {
        leave();
        failed(failure, "");
      }
    }

    private void leave() {
      pending.remove(this);
      inFlight.decrementAndGet();
    }

    private void failed(Failure failure, String words) {
      health.failed(failure, words);
      for (Question question : questions) {
        fail(question, failure);
      }
    }
  }
}
