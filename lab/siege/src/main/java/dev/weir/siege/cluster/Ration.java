package dev.weir.siege.cluster;

import dev.weir.siege.guests.Guest;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Keys with a few permits per day, used one after the other by one client, so that every decision
 * is known: the first permits pass, no others do. Not safe for use by several threads.
 */
public final class Ration implements Errand {
  /** The rule's descriptor key. */
  public static final String RULE = "ration";

  /** The permits of a key. */
  public static final int PERMITS = 5;

  /** The requests for a key beyond its permits. */
  private static final int BEYOND = 3;

  private static final AtomicLong KEYS = new AtomicLong();

  private final boolean mayBeUndecided;
  private String key = fresh();
  private int asked;
  private int admitted;

  /**
   * Creates an errand.
   *
   * @param mayBeUndecided true if a refusal for a reason other than the limit is correct
   */
  public Ration(boolean mayBeUndecided) {
    this.mayBeUndecided = mayBeUndecided;
  }

  private static String fresh() {
    return "key-" + KEYS.incrementAndGet();
  }

  @Override
  public String rule() {
    return RULE;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
    boolean expected = admitted < PERMITS;
    String before = key + ", " + admitted + " of " + PERMITS + " admitted";
    asked++;
    admitted += answer.allowed() ? 1 : 0;
    if (asked == PERMITS + BEYOND) {
      renew();
    }
    boolean decided =
        answer
            .reason()
            .equals(answer.allowed() ? Guest.Answer.WITHIN_LIMIT : Guest.Answer.OVER_LIMIT);
    if (answer.allowed() == expected && decided) {
      return null;
    }
    if (!answer.allowed() && !decided && mayBeUndecided) {
      return null;
    }
    return before + ": " + answer + " (expected: " + (expected ? "allowed" : "refused") + ")";
  }

  @Override
  public @Nullable String unanswered(IOException reason) {
    renew();
    return "no answer: " + reason;
  }

  private void renew() {
    key = fresh();
    asked = 0;
    admitted = 0;
  }
}
