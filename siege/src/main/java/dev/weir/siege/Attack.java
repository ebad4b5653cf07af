package dev.weir.siege;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** What hostile clients do, once. Each is one of those that a hostile reading of Weir found. */
interface Attack {
  /**
   * What became of an attack.
   *
   * @param tried how many connections or calls it opened
   * @param left how many of them the server had not ended when the attack was over
   * @param sentBytes how much it could send
   * @param heard some of what the server said
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
   * Attacks, and leaves nothing open.
   *
   * @param atMost for how long it holds on if the server does not end it
   * @throws IOException if it could not begin
   */
  Outcome run(Target target, Duration atMost) throws IOException;
}
