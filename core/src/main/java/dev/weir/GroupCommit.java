package dev.weir;

import dev.weir.internal.DaemonThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A group commit: answers wait until what they depend on is on the disk, all that wait by one
 * flush. Safe for use by many threads. [DeWitt et al., Implementation Techniques for Main Memory
 * Database Systems, 1984]
 */
final class GroupCommit implements AutoCloseable {
  /*
   * The first answer that waits orders a flush. The flush takes all that wait before it begins, so it
   * has everything that was written before they came here; the next answer orders another one.
   * Another thread gives the answers, so the next flush goes on meanwhile.
   */

  private final Runnable flush;
  private final ExecutorService flusher =
      Executors.newSingleThreadExecutor(DaemonThreads.named("weir-flush"));
  private final ExecutorService answers =
      Executors.newSingleThreadExecutor(DaemonThreads.named("weir-flushed"));

  // The object's lock guards these.
  private List<Runnable> waiting = new ArrayList<>();
  private boolean closed;

  /** Creates a group commit by {@code flush}. */
  GroupCommit(Runnable flush) {
    this.flush = flush;
  }

  /** Runs {@code answer} after the next flush that begins; at once if this is closed. */
  void after(Runnable answer) {
    synchronized (this) {
      if (!closed) {
        waiting.add(answer);
        if (waiting.size() == 1) {
          flusher.execute(this::flush);
        }
        return;
      }
    }
    answer.run();
  }

  private void flush() {
    List<Runnable> taken;
    synchronized (this) {
      taken = waiting;
      waiting = new ArrayList<>();
    }
    flush.run();
    answers.execute(() -> taken.forEach(GroupCommit::give));
  }

  /** Gives an answer. If that fails, the others get theirs. */
  private static void give(Runnable answer) {
    try {
      answer.run();
    } catch (RuntimeException | Error e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  /** Ends the waiting: the answers that wait follow one more flush. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      flusher.execute(answers::shutdown);
      flusher.shutdown();
    }
  }
}
