package dev.weir.replay.internal.judge;

import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.Status;
import dev.weir.replay.ReplayTally;
import dev.weir.replay.internal.pages.DecisionsWriter;
import dev.weir.replay.internal.recorded.RecordedLoad;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run of rules with queues, or with limits at the same time: each record is decided by itself,
 * and between two records the requests that wait are served, and the seats of those that have ended
 * are given back, at the times at which a server would do it.
 */
final class QueueRun implements Run {
  /**
   * A record, as it was taken.
   *
   * @param tookNanos the time that its request took; 0 if it is not known
   */
  private record LoggedRequest(
      int input, long line, long timeNanos, Request request, long tookNanos) {}

  /** A request that its rules let wait. */
  private static final class WaitingRequest {
    final LoggedRequest logged;
    final long sinceNanos;
    final Answer refused;

    /** True if it found a place in the queues; otherwise it was refused at once. */
    boolean stood;

    WaitingRequest(LoggedRequest logged, long sinceNanos, Answer refused) {
      this.logged = logged;
      this.sinceNanos = sinceNanos;
      this.refused = refused;
    }
  }

  private record ServedRequest(WaitingRequest waiting, Answer answer) {}

  private final RuleSet rules;
  private final Engine engine;
  private final VirtualTime time = new VirtualTime();
  private final List<String> names;
  private final RecordedLoad recordedLoad;
  private final ReplayTally tally;
  private final @Nullable DecisionsWriter decisions;
  private final @Nullable RunSeats seats;

  /**
   * Requests answered and not yet reported: a callback of the engine may not fail, a report may.
   */
  private final Deque<ServedRequest> served = new ArrayDeque<>();

  private double load = Double.NaN;
  private long taken;

  /**
   * @param names the inputs' names
   */
  QueueRun(
      RunRules rules,
      List<String> names,
      RunRules.Pace pace,
      RecordedLoad recordedLoad,
      ReplayTally tally,
      @Nullable DecisionsWriter decisions) {
    this.rules = rules.rules();
    this.names = names;
    this.recordedLoad = recordedLoad;
    this.tally = tally;
    this.decisions = decisions;
    engine = rules.engine(time, () -> load);
    seats =
        pace == RunRules.Pace.TIMED
            ? new RunSeats(engine, time, tally.names(), tally.seats(), tally.history())
            : null;
  }

  @Override
  public void take(
      int input, long line, long timeNanos, Request request, double recorded, long durationNanos)
      throws IOException {
    if (taken++ == 0) {
      time.begin(timeNanos);
      engine.apply(rules);
    }
    long nowNanos = Math.max(time.nanos(), timeNanos);
    // A request that waits for this very instant came earlier, so it is served before this record.
    serve(nowNanos);
    time.advance(nowNanos);
    load = recordedLoad.at(nowNanos, recorded);
    Answer answer = engine.decide(request);
    LoggedRequest logged =
        new LoggedRequest(input, line, timeNanos, request, Math.max(0, durationNanos));
    String error = answer.error();
    if (error == null && seats != null) {
      seats.came(request, answer, logged.tookNanos);
    }
    if (error != null) {
      tally.unreadable(names.get(input), line, error);
    } else if (answer.maxWaitNanos() == 0) {
      Status deciding = answer.deciding();
      tally.add(request, answer, deciding, timeNanos, nowNanos, load);
      write(logged, answer, deciding, 0);
      admitted(logged, answer);
    } else {
      enqueue(new WaitingRequest(logged, nowNanos, answer));
    }
    if (taken % EXPIRE_EVERY == 0) {
      engine.expire();
    }
  }

  private void admitted(LoggedRequest logged, Answer answer) {
    if (seats != null && answer.allowed()) {
      seats.admitted(logged.request, answer, logged.tookNanos);
    }
  }

  private void enqueue(WaitingRequest waiting) throws IOException {
    tally.waits(waiting.logged.request, waiting.refused, waiting.sinceNanos);
    engine.enqueue(
        waiting.logged.request,
        waiting.refused,
        Long.MAX_VALUE,
        answer -> {
          served.add(new ServedRequest(waiting, answer));
          admitted(waiting.logged, answer);
        });
    waiting.stood = served.stream().noneMatch(each -> each.waiting == waiting);
    report();
  }

  /** Serves the requests whose turn comes, or whose time is over, until an instant. */
  private void serve(long untilNanos) throws IOException {
    while (time.runNext(untilNanos)) {
      report();
    }
  }

  private void report() throws IOException {
    for (ServedRequest each = served.poll(); each != null; each = served.poll()) {
      WaitingRequest waiting = each.waiting;
      long waitedNanos = time.nanos() - waiting.sinceNanos;
      Status deciding = each.answer.deciding();
      tally.addWaited(
          waiting.logged.request,
          waiting.refused,
          each.answer,
          deciding,
          new ReplayTally.Wait(
              waiting.logged.timeNanos, waiting.sinceNanos, time.nanos(), waiting.stood),
          load);
      write(waiting.logged, each.answer, deciding, waitedNanos);
    }
  }

  private void write(
      LoggedRequest logged, Answer answer, @Nullable Status deciding, long waitedNanos)
      throws IOException {
    if (decisions != null) {
      decisions.write(logged.input, logged.line, logged.timeNanos, answer, deciding, waitedNanos);
    }
  }

  @Override
  public void finish() throws IOException {
    serve(Long.MAX_VALUE);
  }

  @Override
  public void close() {
    engine.close();
  }
}
