package dev.weir.siege.cluster;

import dev.weir.siege.guests.Guest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A request of a client, with what the answer must be. */
public interface Errand {
  String rule();

  String key();

  default int permits() {
    return 1;
  }

  /**
   * Checks the answer.
   *
   * @param startNanos not after the instant of the decision, by this process's clock
   * @param endNanos not before it
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos);

  /**
   * Takes note that there was no answer: it is unknown whether anything was charged.
   *
   * @return what is wrong with that; null if nothing is
   */
  @Nullable String unanswered(IOException reason);
}
