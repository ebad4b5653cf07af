package dev.weir.siege.guests;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** An ordinary client on its own connection. Not safe for use by several threads. */
public interface Guest extends AutoCloseable {
  /**
   * The longest wait for an answer, far more than any server needs: a later answer counts as none.
   */
  Duration PATIENCE = Duration.ofSeconds(10);

  /** The domain of all rules. */
  String DOMAIN = "siege";

  /**
   * The server's decision.
   *
   * @param reason the reason in the answer; if the protocol has none, as far as the answer shows it
   */
  record Answer(boolean allowed, String reason) {
    public static final String WITHIN_LIMIT = "WITHIN_LIMIT";
    public static final String OVER_LIMIT = "OVER_LIMIT";

    /** A refusal that, in this protocol, may be decided or not. */
    public static final String REFUSED = "REFUSED";
  }

  /**
   * Requests permits.
   *
   * @param rule the descriptor's key
   * @param key the descriptor's value
   * @throws IOException if there is no decision within {@link #PATIENCE}
   */
  Answer request(String rule, String key, int permits) throws IOException;

  /**
   * Requests permits of several rules for one key: of all, or of none.
   *
   * @throws UnsupportedOperationException if this protocol cannot
   */
  default Answer request(List<String> rules, String key, int permits) throws IOException {
    if (rules.size() != 1) {
      throw new UnsupportedOperationException("rules: " + rules + " (expected: one)");
    }
    return request(rules.get(0), key, permits);
  }

  /** Requests one permit. */
  default Answer request(String rule, String key) throws IOException {
    return request(rule, key, 1);
  }

  @Override
  void close() throws IOException;
}
