package dev.weir.admin;

import org.jspecify.annotations.Nullable;

/**
 * The body of an answer that goes on until the client leaves: what there is to send, when there is
 * something. {@link #begin} comes first; {@link #next} is called by one thread at a time, and never
 * blocks.
 */
public interface EventStream {
  /**
   * Begins.
   *
   * @param wake to be run, by any thread, when there is something to send
   */
  void begin(Runnable wake);

  /**
   * Returns what to send now: the client has taken all that came before.
   *
   * @return an empty array if there is nothing; null if there will never be anything again
   */
  byte @Nullable [] next();

  /** Says that the client has gone. May be called again. */
  void end();
}
