package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.guests.Guest;
import java.io.IOException;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A request for permits of one of a few hot or many warm keys of a cluster. */
record ClusterErrand(ClusterHistory history, SiegeRule asked, String key, int permits)
    implements Errand {
  private static final int HOT = 8;
  private static final int WARM = 1_000;

  /**
   * The share of requests for a warm key, one of so many. The others are for a hot key, for 1 to 8
   * permits: far more than the limit.
   */
  private static final int ONE_OF_FIVE = 5;

  private static final int MOST_PERMITS = 8;

  /** Returns a random request by one of the rules, which is recorded in the history. */
  static ClusterErrand any(ClusterHistory history, List<SiegeRule> rules, SplittableRandom random) {
    SiegeRule rule = rules.get(random.nextInt(rules.size()));
    boolean hot = random.nextInt(ONE_OF_FIVE) > 0 || rule.equals(ClusterRules.ACCOUNT);
    String key = hot ? "hot-" + random.nextInt(HOT) : "warm-" + random.nextInt(WARM);
    int permits = hot ? random.nextInt(1, MOST_PERMITS + 1) : 1;
    history.requested(rule, key, permits);
    return new ClusterErrand(history, rule, key, permits);
  }

  @Override
  public String rule() {
    return asked.name();
  }

  @Override
  public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
    history.answered(asked, key, permits, startNanos, answer);
    return null; // ClusterHistory judges all admissions together.
  }

  @Override
  public @Nullable String unanswered(IOException reason) {
    history.unanswered();
    return null; // The member is away, or the network is.
  }
}
