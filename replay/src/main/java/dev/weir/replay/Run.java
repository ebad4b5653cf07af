package dev.weir.replay;

import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.RoutedStore;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An engine whose time is the records': decides one after the other and hands the answers on. */
final class Run implements Closeable {
  /** The engine forgets rested keys once in so many requests. */
  private static final int EXPIRE_EVERY = 1024;

  /** Requests that are decided together: more would not make it faster. */
  private static final int TOGETHER = 64;

  private final RuleSet rules;
  private final Engine engine;
  private final Tally tally;
  private final @Nullable DecisionsWriter decisions;
  private final List<Request> requests = new ArrayList<>(TOGETHER);
  private final List<Answer> answers = new ArrayList<>(TOGETHER);
  private final long[] lines = new long[TOGETHER];
  private final long[] timesNanos = new long[TOGETHER];
  private final long[] decidedAtNanos = new long[TOGETHER];
  private long nowNanos;
  private long taken;
  private long expiredAt;

  Run(RuleSet rules, long maxKeys, Tally tally, @Nullable DecisionsWriter decisions) {
    this.rules = rules;
    this.tally = tally;
    this.decisions = decisions;
    // A fixed seed: where keys collide they do so every time, and the output stays the same.
    engine =
        Engine.create(
            RoutedStore.inOne(new MemoryStore(maxKeys)),
            () -> nowNanos,
            EngineSettings.DEFAULTS,
            Fingerprint.seeded(0, 0));
  }

  /**
   * Takes a record, to be decided with others.
   *
   * @param line its number in the input
   * @param timeNanos its own time
   */
  void take(long line, long timeNanos, Request request) throws IOException {
    if (taken++ == 0) {
      nowNanos = timeNanos;
      engine.apply(rules);
    }
    nowNanos = Math.max(nowNanos, timeNanos);
    lines[requests.size()] = line;
    timesNanos[requests.size()] = timeNanos;
    decidedAtNanos[requests.size()] = nowNanos;
    requests.add(request);
    if (requests.size() == TOGETHER) {
      decide();
    }
  }

  /** Decides what was taken and not decided yet. */
  void decide() throws IOException {
    engine.decideAllAt(requests, decidedAtNanos, answers::add);
    for (int i = 0; i < requests.size(); i++) {
      report(lines[i], timesNanos[i], decidedAtNanos[i], requests.get(i), answers.get(i));
    }
    requests.clear();
    answers.clear();
    if (taken - expiredAt >= EXPIRE_EVERY) {
      expiredAt = taken;
      engine.expire();
    }
  }

  private void report(long line, long timeNanos, long nowNanos, Request request, Answer answer)
      throws IOException {
    String error = answer.error();
    if (error != null) {
      tally.unreadable(line, error);
      return;
    }
    Status deciding = answer.deciding();
    tally.add(request, answer, deciding, timeNanos, nowNanos);
    if (decisions != null) {
      decisions.write(line, timeNanos, answer, deciding);
    }
  }

  @Override
  public void close() {
    engine.close();
  }
}
