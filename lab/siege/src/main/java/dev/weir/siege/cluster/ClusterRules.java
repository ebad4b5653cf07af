package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import java.time.Duration;
import java.util.List;

/** The rules of a besieged cluster. */
final class ClusterRules {
  /** A strict rule: a majority commits each decision. */
  static final SiegeRule STRICT =
      SiegeRule.shared("strict", 100, Duration.ofSeconds(2), "store: shared");

  /** A leased rule: members spend permits that were committed before. */
  static final SiegeRule LEASED =
      SiegeRule.shared(
          "leased",
          100,
          Duration.ofSeconds(2),
          "store: shared, consistency: leased, sync_interval: 200ms");

  /** A rule with more permits a day than a siege requests: at its end all charges are known. */
  static final SiegeRule ACCOUNT =
      SiegeRule.shared("account", 100_000_000, Duration.ofDays(1), "store: shared");

  /**
   * A rule that admits everything while nothing is decided: its limit does not hold, and a siege
   * must find that out.
   */
  static final SiegeRule OPEN =
      SiegeRule.shared("open", 20, Duration.ofSeconds(2), "store: shared, on_failure: allow");

  /**
   * A rule that each member counts for itself: its limit does not hold, and a siege must find that
   * out.
   */
  static final SiegeRule APART =
      SiegeRule.local("apart", 20, Duration.ofSeconds(2), "store: local");

  /** The rules whose limits must hold. */
  static final List<SiegeRule> LIMITS = List.of(STRICT, LEASED);

  /** The rules that clients use. */
  static final List<SiegeRule> ASKED = List.of(STRICT, LEASED, ACCOUNT);

  /**
   * The permits of a ration: a few a day, so that all requests of a key and their answers are
   * known.
   */
  static final int RATION_PERMITS = 20;

  private ClusterRules() {}

  /** Returns the rule file. */
  static String file() {
    return SiegeRule.file(
        RATION_PERMITS, "store: shared", List.of(STRICT, LEASED, ACCOUNT, OPEN, APART));
  }
}
