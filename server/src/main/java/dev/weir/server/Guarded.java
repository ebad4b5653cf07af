package dev.weir.server;

import dev.weir.Ticker;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;

/**
 * One turn of a {@link Loop}, whose errors are logged and counted and go no further: an executor
 * drops a periodic task that throws, and a thread ends. Safe for use by many threads.
 */
final class Guarded implements Runnable {
  /*
   * Why is an Error caught here, too? Who hands the server to a supervisor has it end when memory
   * runs out: 'weir serve' says -XX:+ExitOnOutOfMemoryError, and a clean process is better than one
   * of which nobody knows what is left. Without that flag, in a process of somebody else's, a loop
   * that has ended is worse than one whose turn has failed: a token that was taken back would stay
   * good for ever. What is needed to count is there before anything fails, since the moment may have
   * no memory to spare.
   */

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

  Guarded(Loop loop, Runnable turn) {
    this.loop = loop;
    this.turn = turn;
  }

  @Override
  public void run() {
    try {
      turn.run();
    } catch (Throwable e) {
      failed(loop, "a turn failed, the next one comes in its time", e);
    }
  }

  /** Counts an error of a loop that goes on, and says so in the log; never throws. */
  static void failed(Loop loop, String what, Throwable error) {
    try {
      AtomicLong errors = ERRORS.get(loop);
      FewLines lines = LINES.get(loop);
      if (errors != null && lines != null) {
        errors.incrementAndGet();
        lines.write(Level.SEVERE, loop.label() + ": " + what + harm(error), error);
      }
    } catch (Throwable second) {
      error.addSuppressed(second); // There is no memory even for a line. It is counted.
    }
  }

  /** An overflow of the stack unwinds it and is over; other errors of the machine may recur. */
  private static String harm(Throwable error) {
    return error instanceof VirtualMachineError && !(error instanceof StackOverflowError)
        ? "; the process may have lost more than this, and should be started anew"
        : "";
  }

  /** Logs and counts what ends threads of this process. */
  static void uncaught(Thread thread, Throwable error) {
    failed(Loop.THREAD, thread.getName() + " has ended", error);
  }

  /** Returns how many errors of each loop there were in this process. */
  static long errors(Loop loop) {
    AtomicLong errors = ERRORS.get(loop);
    return errors == null ? 0 : errors.get();
  }
}
