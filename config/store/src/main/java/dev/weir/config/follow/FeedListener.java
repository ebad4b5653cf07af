package dev.weir.config.follow;

import dev.weir.config.ChangeDetails;
import dev.weir.config.Head;
import java.io.IOException;

/**
 * A listener to the changes that a {@link Feed} reads from a store. Its methods are called one
 * after the other. An exception of a listener is reported to its {@link #failed}, and does not
 * affect other listeners.
 */
public interface FeedListener {
  /**
   * Called after a change of the listener's kind.
   *
   * @param number of the change
   */
  default void changed(long number, ChangeDetails change) {}

  /**
   * Called if changes cannot be reported one by one: there was no earlier head, there are too many
   * changes, or the store is another one. Everything known from before may be outdated.
   */
  default void missed(Head head) {}

  /**
   * Called after the store has answered: every change up to the head's position has been reported.
   *
   * @param asOfNanos the instant at which the store was called; all changes before it are reported
   * @throws IOException if the listener could not act on it; it is called again soon
   */
  default void caughtUp(Head head, long asOfNanos) throws IOException {}

  /** Called if the store has not answered, and with an exception of this listener. */
  default void failed(Throwable error) {}
}
