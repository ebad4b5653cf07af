package dev.weir.config.postgres;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The end of a wait that a busy machine may make long. */
final class Deadline {
  private static final long SECONDS = 120;

  private final CompletableFuture<Boolean> over =
      new CompletableFuture<Boolean>().completeOnTimeout(true, SECONDS, TimeUnit.SECONDS);

  /** Throws if the time is over. */
  void check(Exception reason) {
    if (over.isDone()) {
      throw new AssertionError("not within " + SECONDS + " s", reason);
    }
    Thread.onSpinWait();
  }

  static void await(String what, BooleanSupplier condition) {
    Deadline deadline = new Deadline();
    while (!condition.getAsBoolean()) {
      deadline.check(new IllegalStateException(what));
    }
  }
}
