package dev.weir.cluster;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Waits for what other threads do. */
public final class Await {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final long PAUSE_MILLIS = 5;

  private Await() {}

  /** Waits until that is true; fails after two minutes. */
  public static void until(String what, Callable<Boolean> condition) throws Exception {
    until(() -> what, condition);
  }

  /** As {@link #until(String, Callable)}, where what is waited for says how far it has come. */
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
