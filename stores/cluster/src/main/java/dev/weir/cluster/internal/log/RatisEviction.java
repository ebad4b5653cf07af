package dev.weir.cluster.internal.log;

import java.io.IOException;
import java.lang.reflect.Field;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.util.AwaitToRun;

/** The thread by which one of Ratis's logs removes files from memory. */
final class RatisEviction {
  /*
   * Why is it stopped separately? Ratis stops it when it closes the log, and holds the log's lock
   * while it waits for the thread to end. If the thread has just begun to wait for the same lock,
   * neither ever goes on, and the folder stays locked. If it is stopped before, without the lock,
   * the thread ends after its present task, and Ratis does not have to wait for it. Files that the
   * log needs for a moment longer stay in memory.
   */
  private static final String FIELD = "cacheEviction";

  private RatisEviction() {}

  /**
   * Stops that thread of a log. Blocks until it has ended; does nothing if it has.
   *
   * @throws IOException if this version of Ratis has another one
   */
  static void stop(RaftLog log) throws IOException {
    AwaitToRun eviction;
    try {
      Field field = log.getClass().getDeclaredField(FIELD);
      field.setAccessible(true);
      eviction = (AwaitToRun) field.get(log);
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IOException(log.getClass().getName() + "." + FIELD + ": " + e, e);
    }
    eviction.close();
  }
}
