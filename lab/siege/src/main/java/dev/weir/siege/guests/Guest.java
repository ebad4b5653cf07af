package dev.weir.siege.guests;

import java.io.IOException;
import java.time.Duration;

/** An ordinary client on a connection of its own. Not safe for use by several threads. */
public interface Guest extends AutoCloseable {
  /** An answer that takes longer counts as none: far more than any server needs. */
  Duration PATIENCE = Duration.ofSeconds(10);

  /** The domain that all rules are in. */
  String DOMAIN = "siege";

  /**
   * The server's decision.
   *
   * @param reason as in the answer; where the protocol has none, as far as the answer shows it
   */
  record Answer(boolean allowed, String reason) {
    public static final String WITHIN_LIMIT = "WITHIN_LIMIT";
    public static final String OVER_LIMIT = "OVER_LIMIT";

    /** A refusal that, in this protocol, may be decided or not. */
    public static final String REFUSED = "REFUSED";
  }

  /**
   * Asks for permits.
   *
   * @param rule the descriptor's key
   * @param key the descriptor's value
   * @throws IOException if there is no decision within {@link #PATIENCE}
   */
  Answer ask(String rule, String key, int permits) throws IOException;

  /** Asks for one permit. */
  default Answer ask(String rule, String key) throws IOException {
    return ask(rule, key, 1);
  }

  @Override
  void close() throws IOException;
}
