package dev.weir.config.follow;

import dev.weir.config.ChangeDetails;
import dev.weir.config.Head;
import java.io.IOException;

/**
 * Hears from a {@link Feed} what changes in a store; all calls come one after the other. What one
 * throws is reported to {@link #failed}, and keeps nothing from other listeners.
 */
public interface FeedListener {
  /**
   * Says that something of the listener's kind changed.
   *
   * @param number of the change
   */
  default void changed(long number, ChangeDetails change) {}

  /**
   * Says that changes cannot be reported one by one: nothing was known before, there are too many,
   * or the store is not the one that it was. Whatever is known from before may be outdated.
   */
  default void missed(Head head) {}

  /**
   * Says that the store was heard: every change up to the head's position was reported before this.
   *
   * @param asOfNanos the instant at which the store was asked; what changed before it is known
   * @throws IOException if something could not be done; it is called again soon
   */
  default void heard(Head head, long asOfNanos) throws IOException {}

  /** Says that the store was not heard, or what this listener has thrown. */
  default void failed(Throwable error) {}
}
