package dev.weir.replay;

import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.Status;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** An engine whose time is the records': decides one after the other and hands the answers on. */
final class Run implements Closeable {
  /** The engine forgets rested keys once in so many requests, a power of two. */
  private static final int EXPIRE_EVERY = 1024;

  private final RuleSet rules;
  private final Engine engine;
  private final Tally tally;
  private final @Nullable DecisionsWriter decisions;
  private long nowNanos;
  private long asked;

  Run(RuleSet rules, long maxKeys, Tally tally, @Nullable DecisionsWriter decisions) {
    this.rules = rules;
    this.tally = tally;
    this.decisions = decisions;
    // A fixed seed: where keys collide they do so every time, and the output stays the same.
    engine =
        Engine.create(
            new MemoryStore(maxKeys),
            () -> nowNanos,
            EngineSettings.DEFAULTS,
            Fingerprint.seeded(0, 0));
  }

  /**
   * Decides a record.
   *
   * @param line its number in the input
   * @param timeNanos its own time
   */
  void decide(long line, long timeNanos, Request request) throws IOException {
    if (asked++ == 0) {
      nowNanos = timeNanos;
      engine.apply(rules);
    }
    nowNanos = Math.max(nowNanos, timeNanos);
    if ((asked & (EXPIRE_EVERY - 1)) == 0) {
      engine.expire();
    }
    Answer answer = engine.decideAt(request, nowNanos);
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
