package dev.weir.cluster;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A wait for conditions that other threads bring about. */
public final class Await {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final long PAUSE_MILLIS = 5;

  private Await() {}

  /** Waits until a condition is true; fails after two minutes. */
  public static void until(String what, Callable<Boolean> condition) throws Exception {
    until(() -> what, condition);
  }

  /**
   * Does the same as {@link #until(String, Callable)}, with a description that shows the progress.
   */
  public static void until(Supplier<String> what, Callable<Boolean> condition) throws Exception {
    long end = Ticker.system().nanos() + LONG.toNanos();
    while (!condition.call()) {
      if (Ticker.system().nanos() - end > 0) {
        throw new AssertionError("not within " + LONG + ": " + what.get());
      }
      pause(PAUSE_MILLIS);
    }
  }

  public static void pause(long millis) throws InterruptedException {
    boolean unused = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
  }
}
