package dev.weir.replay.internal.judge;

import dev.weir.LoadSignal;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.Status;
import dev.weir.replay.ReplayTally;
import dev.weir.replay.internal.pages.DecisionsWriter;
import dev.weir.replay.internal.recorded.RecordedLoad;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run of rules without queues: many records are decided together, which is faster. */
final class BatchRun implements Run {
  /** The number of requests that are decided together: more would not make it faster. */
  private static final int TOGETHER = 64;

  private final RuleSet rules;
  private final Engine engine;
  private final List<String> names;
  private final RecordedLoad load;
  private final ReplayTally tally;
  private final @Nullable DecisionsWriter decisions;
  private final List<Request> requests = new ArrayList<>(TOGETHER);
  private final List<Answer> answers = new ArrayList<>(TOGETHER);
  private final int[] inputs = new int[TOGETHER];
  private final long[] lines = new long[TOGETHER];
  private final long[] timesNanos = new long[TOGETHER];
  private final long[] decidedAtNanos = new long[TOGETHER];
  private final double[] loads = new double[TOGETHER];
  private long nowNanos;
  private long taken;
  private long expiredAt;

  /**
   * @param names the inputs' names
   */
  BatchRun(
      RunRules rules,
      List<String> names,
      RecordedLoad load,
      ReplayTally tally,
      @Nullable DecisionsWriter decisions) {
    this.rules = rules.rules();
    this.names = names;
    this.load = load;
    this.tally = tally;
    this.decisions = decisions;
    engine = rules.engine(() -> nowNanos, LoadSignal.UNKNOWN);
  }

  @Override
  public void take(
      int input, long line, long timeNanos, Request request, double recorded, long durationNanos)
      throws IOException {
    if (taken++ == 0) {
      nowNanos = timeNanos;
      engine.apply(rules);
    }
    nowNanos = Math.max(nowNanos, timeNanos);
    inputs[requests.size()] = input;
    lines[requests.size()] = line;
    timesNanos[requests.size()] = timeNanos;
    decidedAtNanos[requests.size()] = nowNanos;
    loads[requests.size()] = load.at(nowNanos, recorded);
    requests.add(request);
    if (requests.size() == TOGETHER) {
      decide();
    }
  }

  @Override
  public void finish() throws IOException {
    decide();
  }

  private void decide() throws IOException {
    engine.decideAllAt(requests, decidedAtNanos, loads, answers::add);
    for (int i = 0; i < requests.size(); i++) {
      report(i, requests.get(i), answers.get(i));
    }
    requests.clear();
    answers.clear();
    if (taken - expiredAt >= EXPIRE_EVERY) {
      expiredAt = taken;
      engine.expire();
    }
  }

  private void report(int i, Request request, Answer answer) throws IOException {
    String error = answer.error();
    if (error != null) {
      tally.unreadable(names.get(inputs[i]), lines[i], error);
      return;
    }
    Status deciding = answer.deciding();
    tally.add(request, answer, deciding, timesNanos[i], decidedAtNanos[i], loads[i]);
    if (decisions != null) {
      decisions.write(inputs[i], lines[i], timesNanos[i], answer, deciding, 0);
    }
  }

  @Override
  public void close() {
    engine.close();
  }
}
