package dev.weir.replay.internal.judge;

import dev.weir.Fingerprint;
import dev.weir.LoadSignal;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.RoutedStore;
import dev.weir.engine.SubjectSettings;
import dev.weir.replay.ReplayTally;
import dev.weir.replay.internal.pages.DecisionsWriter;
import dev.weir.replay.internal.recorded.RecordedLoad;
import dev.weir.rules.RuleSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules, store and limits that decide in a run.
 *
 * @param rules the rules
 * @param store an empty store, which the run closes
 * @param policies the limits of subjects, available at once
 */
public record RunRules(RuleSet rules, MemoryStore store, KeyPolicies policies) {
  /** The way in which the records of a run are decided. */
  public enum Pace {
    /** Many at once, which is faster. */
    TOGETHER,
    /** Each by itself, since requests may wait. */
    EACH,
    /** Each by itself, and its seats are given back when it has ended. */
    TIMED
  }

  /** Returns an engine without rules. */
  Engine engine(Ticker ticker, LoadSignal load) {
    // A fixed seed: keys that collide do it in every run, so the output stays the same.
    return Engine.builder(RoutedStore.inOne(store))
        .ticker(ticker)
        .fingerprint(Fingerprint.seeded(0, 0))
        .load(load)
        .subjects(policies, SubjectSettings.DEFAULTS)
        .build();
  }

  /**
   * Returns a run of these rules.
   *
   * @param names the inputs' names
   * @param pace the way in which records are decided
   */
  public Run run(
      List<String> names,
      Pace pace,
      RecordedLoad load,
      ReplayTally tally,
      @Nullable DecisionsWriter decisions) {
    return pace == Pace.TOGETHER
        ? new BatchRun(this, names, load, tally, decisions)
        : new QueueRun(this, names, pace, load, tally, decisions);
  }
}
