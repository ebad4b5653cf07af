package dev.weir.siege.guests;

import dev.weir.siege.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** One attack by hostile clients. Each was found by a hostile review of Weir. */
public interface Attack {
  /**
   * The result of an attack.
   *
   * @param tried the connections or calls that it opened
   * @param left the connections or calls that the server had not ended when the attack was over
   * @param sentBytes the bytes that it could send
   * @param heard some of the server's answers
   */
  record Outcome(int tried, int left, long sentBytes, List<String> heard) {
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%d tried, %d left, %.1f MB sent, heard %s",
          tried,
          left,
          sentBytes / 1e6,
          heard);
    }
  }

  /**
   * Runs the attack, and leaves nothing open.
   *
   * @param atMost the longest time of the attack if the server does not end it
   * @throws IOException if the attack could not begin
   */
  Outcome run(Target target, Duration atMost) throws IOException;
}
