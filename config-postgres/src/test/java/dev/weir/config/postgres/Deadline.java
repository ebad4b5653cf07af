package dev.weir.config.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ConfigException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

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
    LockSupport.parkNanos(20_000);
  }

  /** Returns what a call returns, once it is not unavailable. */
  static <T> T retry(Supplier<T> call) {
    Deadline deadline = new Deadline();
    while (true) {
      try {
        return call.get();
      } catch (ConfigException e) {
        assertThat(e.kind()).as(e.getMessage()).isEqualTo(ConfigException.Kind.UNAVAILABLE);
        deadline.check(e);
      }
    }
  }

  static void await(String what, BooleanSupplier condition) {
    Deadline deadline = new Deadline();
    while (!condition.getAsBoolean()) {
      deadline.check(new IllegalStateException(what));
    }
  }
}
