package dev.weir.siege.cluster;

import dev.weir.siege.guests.Guest;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A request of a client, with a check of its answer. */
public interface Errand {
  String rule();

  /** Returns all rules that the request is for, of which {@link #rule} is the first. */
  default List<String> rules() {
    return List.of(rule());
  }

  String key();

  default int permits() {
    return 1;
  }

  /**
   * Checks the answer.
   *
   * @param startNanos not after the instant of the decision, by this process's clock
   * @param endNanos not before that instant
   * @return the problem with the answer; null if there is none
   */
  @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos);

  /**
   * Records that there was no answer: it is unknown whether anything was charged.
   *
   * @return the problem with that; null if there is none
   */
  @Nullable String unanswered(IOException reason);
}
