package dev.weir.siege.cluster;

import dev.weir.siege.SiegeRule;
import dev.weir.siege.guests.Guest;
import dev.weir.siege.soak.SoakRules;
import dev.weir.siege.soak.WindowWatch;
import java.io.IOException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** A request for one of a few keys of one of the rules with short windows. */
public final class WindowErrand implements Errand {
  private static final int KEYS = 2;

  private final WindowWatch watch;
  private final SiegeRule rule;
  private final String key;
  private final String counted;

  private WindowErrand(WindowWatch watch, SiegeRule rule, String key, String counted) {
    this.watch = watch;
    this.rule = rule;
    this.key = key;
    this.counted = counted;
  }

  /**
   * Returns a random request.
   *
   * @param server the name of the server that gets the request
   */
  public static WindowErrand any(WindowWatch watch, String server) {
    int number = ThreadLocalRandom.current().nextInt(SoakRules.ALL.size());
    return of(watch, SoakRules.ALL.get(number), server);
  }

  /**
   * Returns a request for a random key of a rule.
   *
   * @param server the name of the server that gets the request
   */
  public static WindowErrand of(WindowWatch watch, SiegeRule rule, String server) {
    String key = "hot-" + ThreadLocalRandom.current().nextInt(KEYS);
    return new WindowErrand(watch, rule, key, rule.shared() ? key : server + " " + key);
  }

  @Override
  public String rule() {
    return rule.name();
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos) {
    if (answer.allowed()) {
      watch.admitted(rule, counted, startNanos, endNanos);
    }
    return null; // WindowWatch checks all admissions together.
  }

  @Override
  public @Nullable String unanswered(IOException reason) {
    return "no answer: " + reason;
  }
}
