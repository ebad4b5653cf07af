package dev.weir.siege;

import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Asks for one of few keys of one of the rules with short windows. */
final class WindowErrand implements Errand {
  private static final int KEYS = 2;

  private final WindowWatch watch;
  private final WindowRule rule;
  private final String key;
  private final String counted;

  private WindowErrand(WindowWatch watch, WindowRule rule, String key, String counted) {
    this.watch = watch;
    this.rule = rule;
    this.key = key;
    this.counted = counted;
  }

  /**
   * Returns one by chance.
   *
   * @param server the name of the server that will be asked
   */
  static WindowErrand any(WindowWatch watch, String server) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    WindowRule rule = WindowRule.ALL.get(random.nextInt(WindowRule.ALL.size()));
    String key = "hot-" + random.nextInt(KEYS);
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
    return null; // What passed is judged together.
  }

  @Override
  public void unanswered() {}
}
