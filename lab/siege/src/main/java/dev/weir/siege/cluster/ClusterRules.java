package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import java.time.Duration;
import java.util.List;

/** The rules of a besieged cluster. */
final class ClusterRules {
  /** Each decision is committed by a majority. */
  static final SiegeRule STRICT =
      SiegeRule.shared("strict", 100, Duration.ofSeconds(2), "store: shared");

  /** Members spend what was committed before. */
  static final SiegeRule LEASED =
      SiegeRule.shared(
          "leased",
          100,
          Duration.ofSeconds(2),
          "store: shared, consistency: leased, sync_interval: 200ms");

  /** More permits a day than a siege asks for: all that was charged is known at its end. */
  static final SiegeRule ACCOUNT =
      SiegeRule.shared("account", 100_000_000, Duration.ofDays(1), "store: shared");

  /** Lets everybody pass while nothing is decided: a limit that does not hold, to be found out. */
  static final SiegeRule OPEN =
      SiegeRule.shared("open", 20, Duration.ofSeconds(2), "store: shared, on_failure: allow");

  /** Counted by each member for itself: a limit that does not hold, to be found out. */
  static final SiegeRule APART =
      SiegeRule.local("apart", 20, Duration.ofSeconds(2), "store: local");

  /** Those whose limits must hold. */
  static final List<SiegeRule> LIMITS = List.of(STRICT, LEASED);

  /** Those that clients ask for. */
  static final List<SiegeRule> ASKED = List.of(STRICT, LEASED, ACCOUNT);

  /** A few permits a day: what was asked of a key, and what was answered, is known. */
  static final int RATION_PERMITS = 20;

  private ClusterRules() {}

  /** Returns the rule file. */
  static String file() {
    return SiegeRule.file(
        RATION_PERMITS, "store: shared", List.of(STRICT, LEASED, ACCOUNT, OPEN, APART));
  }
}
