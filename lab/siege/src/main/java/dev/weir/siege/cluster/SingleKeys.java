package dev.weir.siege.cluster;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.siege.guests.Guest;
import dev.weir.testkit.Linearizability;
import dev.weir.testkit.Linearizability.Call;
import dev.weir.testkit.Linearizability.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A source of requests for one key of a few permits a day, and then for the next one, by clients of
 * all members. The whole history of each key must be that of a limiter that decides one request
 * after the other.
 */
final class SingleKeys {
  /** The number of calls for a key: half of them request about as many permits as the limit. */
  private static final int CALLS = 24;

  private static final int MOST_PERMITS = 4;

  /**
   * The most unknown answers of a searched history. More make the search long: each may have been
   * charged or not, and refunded or not.
   */
  private static final int MOST_UNKNOWN = 8;

  private static final Policy POLICY =
      Policy.of(Quota.of(ClusterRules.RATION_PERMITS, Duration.ofDays(1)));

  /**
   * The result of checking the keys that were completed since the last check.
   *
   * @param judged the number of histories that were searched
   * @param unclear the number of histories that were not searched, since too many of their answers
   *     are unknown
   * @param wrong a history that such a limiter cannot have; null if there is none
   */
  record Judgement(int judged, int unclear, @Nullable List<Call> wrong) {}

  // Guarded by this object's lock.
  private final Map<Integer, List<Call>> histories = new HashMap<>();
  private int number;
  private int asked;

  /** A request for the key of that number, begun at that instant. */
  private record KeyRequest(SingleKeys keys, int number, int permits, long begunNanos)
      implements Errand {
    @Override
    public String rule() {
      return Ration.RULE;
    }

    @Override
    public String key() {
      return "single-" + number;
    }

    @Override
    public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
      Outcome outcome =
          switch (answer.reason()) {
            case Guest.Answer.WITHIN_LIMIT -> Outcome.ADMITTED;
            case Guest.Answer.OVER_LIMIT -> Outcome.REFUSED;
            default -> Outcome.UNKNOWN;
          };
      keys.add(number, new Call(startNanos, endNanos, permits, outcome));
      return null; // Histories are judged as a whole.
    }

    @Override
    public @Nullable String unanswered(IOException reason) {
      keys.add(number, new Call(begunNanos, Long.MAX_VALUE, permits, Outcome.UNKNOWN));
      return null;
    }
  }

  /** Returns the next request. */
  Errand next(SplittableRandom random) {
    return new KeyRequest(this, number(), random.nextInt(1, MOST_PERMITS + 1), System.nanoTime());
  }

  /** Returns the number of the next key. */
  private synchronized int number() {
    if (asked == CALLS) {
      asked = 0;
      number++;
    }
    asked++;
    return number;
  }

  private synchronized void add(int key, Call call) {
    histories.computeIfAbsent(key, each -> new ArrayList<>()).add(call);
  }

  private synchronized List<List<Call>> complete() {
    List<List<Call>> complete = new ArrayList<>();
    histories.values().stream().filter(each -> each.size() == CALLS).forEach(complete::add);
    histories.values().removeAll(complete);
    return complete;
  }

  /** Judges the keys whose calls are complete. */
  Judgement judge() {
    int judged = 0;
    int unclear = 0;
    List<Call> wrong = null;
    for (List<Call> each : complete()) {
      if (each.stream().filter(call -> call.outcome() == Outcome.UNKNOWN).count() > MOST_UNKNOWN) {
        unclear++;
      } else {
        judged++;
        wrong = Linearizability.holds(each, POLICY) ? wrong : each;
      }
    }
    return new Judgement(judged, unclear, wrong);
  }
}
