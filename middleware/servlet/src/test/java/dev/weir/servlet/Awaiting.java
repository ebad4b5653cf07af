package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The wait for conditions that other threads fulfil, which leaves them the processor meanwhile. */
final class Awaiting {
  private static final long LONGEST_NANOS = Duration.ofSeconds(60).toNanos();

  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private Awaiting() {}

  /** Waits until a condition holds; fails after a minute. */
  static void until(BooleanSupplier condition, Supplier<String> otherwise) {
    Ticker ticker = Ticker.system();
    long end = ticker.nanos() + LONGEST_NANOS;
    while (!condition.getAsBoolean()) {
      if (ticker.nanos() - end > 0) {
        throw new AssertionError(otherwise.get());
      }
      poll();
    }
  }

  private static void poll() {
    try {
      boolean never = NEVER.await(1, TimeUnit.MILLISECONDS);
      assertThat(never).isFalse();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
