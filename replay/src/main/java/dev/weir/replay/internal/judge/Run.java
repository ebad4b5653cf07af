package dev.weir.replay.internal.judge;

import dev.weir.rules.Request;
import java.io.Closeable;
import java.io.IOException;

/** An engine on the records' time: it decides the records and passes the answers on. */
public interface Run extends Closeable {
  /** The number of records after which the engine drops keys that have reset. */
  int EXPIRE_EVERY = 1024;

  /**
   * Accepts a record, to be decided at its time, or at the latest time so far if that is later.
   *
   * @param input the input's number
   * @param line its line number in the input
   * @param timeNanos its own time
   * @param recorded the load in the record, NaN if there is none
   * @param durationNanos the time that the request took, in nanoseconds; -1 if it is not known
   */
  void take(
      int input, long line, long timeNanos, Request request, double recorded, long durationNanos)
      throws IOException;

  /**
   * Decides the accepted records that are not decided yet. To be called once, after the last
   * record.
   */
  void finish() throws IOException;

  @Override
  void close();
}
