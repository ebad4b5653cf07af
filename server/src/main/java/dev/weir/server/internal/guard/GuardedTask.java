package dev.weir.server.internal.guard;

import dev.weir.Ticker;
import dev.weir.server.internal.log.FewLines;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;

/**
 * One turn of a {@link Loop}. Its errors are logged, counted and not thrown further: otherwise an
 * executor would drop a periodic task that throws, and a thread would end. Safe for use by many
 * threads.
 */
public final class GuardedTask implements Runnable {
  /*
   * Why is an Error caught here, too? Under a supervisor the server ends when memory runs out:
   * 'weir serve' passes -XX:+ExitOnOutOfMemoryError, because a clean process is better than one in
   * an unknown state. Without that flag, for example in another program's process, a loop that has
   * ended is worse than one whose turn has failed: a revoked token would stay valid for ever. All
   * objects for counting are created before anything fails, because there may be no memory at that
   * moment.
   */

  // The errors of the whole process, whatever servers it runs: so their lines are limited by its
  // clock, too.
  private static final Map<Loop, AtomicLong> ERRORS = new EnumMap<>(Loop.class);
  private static final Map<Loop, FewLines> LINES = new EnumMap<>(Loop.class);

  static {
    for (Loop loop : Loop.values()) {
      ERRORS.put(loop, new AtomicLong());
      LINES.put(loop, new FewLines(Ticker.system()));
    }
  }

  private final Loop loop;
  private final Runnable turn;

  public GuardedTask(Loop loop, Runnable turn) {
    this.loop = loop;
    this.turn = turn;
  }

  @Override
  public void run() {
    try {
      turn.run();
    } catch (Throwable e) {
      failed(loop, "a run failed, the next one follows as usual", e);
    }
  }

  /** Counts and logs an error of a loop that goes on; never throws. */
  public static void failed(Loop loop, String what, Throwable error) {
    try {
      AtomicLong errors = ERRORS.get(loop);
      FewLines lines = LINES.get(loop);
      if (errors != null && lines != null) {
        errors.incrementAndGet();
        lines.write(Level.SEVERE, loop.label() + ": " + what + harm(error), error);
      }
    } catch (Throwable second) {
      error.addSuppressed(second); // There is no memory even for a line, but the error is counted.
    }
  }

  /**
   * Returns the harm of an error, in words. A stack overflow is over when the stack is unwound;
   * other errors of the virtual machine may recur.
   */
  private static String harm(Throwable error) {
    return error instanceof VirtualMachineError && !(error instanceof StackOverflowError)
        ? "; other parts of the process may be damaged as well, restart it"
        : "";
  }

  /** Logs and counts an error that has ended a thread of this process. */
  public static void uncaught(Thread thread, Throwable error) {
    failed(Loop.THREAD, thread.getName() + " has ended", error);
  }

  /** Returns the number of errors of each loop in this process. */
  public static long errors(Loop loop) {
    AtomicLong errors = ERRORS.get(loop);
    return errors == null ? 0 : errors.get();
  }
}
