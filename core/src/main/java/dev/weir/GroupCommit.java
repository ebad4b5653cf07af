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
   * One thread flushes for as long as answers wait. It takes all of them before a flush, so each
   * flush has everything that was written before an answer came here. Another thread gives the
   * answers, so the next flush goes on meanwhile.
   */

  private final Runnable flush;
  private final Thread flusher = DaemonThreads.create("weir-flush", this::run);
  private final ExecutorService answers =
      Executors.newSingleThreadExecutor(DaemonThreads.named("weir-flushed"));

  // The object's lock guards these.
  private List<Runnable> waiting = new ArrayList<>();
  private boolean closed;

  /** Begins to flush, by {@code flush}, which must not throw. */
  GroupCommit(Runnable flush) {
    this.flush = flush;
    flusher.start();
  }

  /** Runs {@code answer} after the next flush that begins; at once if this is closed. */
  void after(Runnable answer) {
    synchronized (this) {
      if (!closed) {
        waiting.add(answer);
        notifyAll();
        return;
      }
    }
    answer.run();
  }

  private void run() {
    try {
      for (List<Runnable> taken = take(); !taken.isEmpty(); taken = take()) {
        flush.run();
        List<Runnable> flushed = taken;
        answers.execute(() -> flushed.forEach(GroupCommit::give));
      }
    } catch (InterruptedException e) {
      close(); // Nobody interrupts this thread; if somebody does, later answers do not wait.
    }
    answers.shutdown();
  }

  /** Waits for answers and returns all that there are; none at the end. */
  private synchronized List<Runnable> take() throws InterruptedException {
    while (waiting.isEmpty() && !closed) {
      wait();
    }
    List<Runnable> taken = waiting;
    waiting = new ArrayList<>();
    return taken;
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
    closed = true;
    notifyAll();
  }
}
