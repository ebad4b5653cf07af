package dev.weir.admin;

import org.jspecify.annotations.Nullable;

/**
 * The body of an answer that goes on until the client leaves. {@link #begin} is called first;
 * {@link #next} is called by one thread at a time, and never blocks.
 */
public interface EventStream {
  /**
   * Starts the stream.
   *
   * @param wake to be run, by any thread, when there is something to send
   */
  void begin(Runnable wake);

  /**
   * Returns the bytes to send now. The client has taken all earlier ones.
   *
   * @return an empty array if there is nothing now; null at the end of the stream
   */
  byte @Nullable [] next();

  /** Ends the stream because the client has gone. May be called more than once. */
  void end();
}
