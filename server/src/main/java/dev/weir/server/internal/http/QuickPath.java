package dev.weir.server.internal.http;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.server.internal.deciding.ByteText;
import dev.weir.server.internal.deciding.QuickRequest;

/** The writer of the answers of one path that needs no codec. Confined to one event loop. */
interface QuickPath {
  /**
   * Returns whether it has answers for a limit; if it has, the next {@link #write} is for that one.
   */
  boolean takes(CurrentLimit limit);

  /**
   * Adds an answer, from the line with its status on.
   *
   * @param decided contains the one request that has been read, which is decided
   */
  void write(QuickRequest asked, RequestBatch decided, ByteText answers);
}
