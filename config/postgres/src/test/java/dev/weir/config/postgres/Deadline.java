package dev.weir.config.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.ConfigException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** The end of a wait that a busy machine may make long. */
final class Deadline {
  private static final long SECONDS = 120;

  private final CompletableFuture<Boolean> over =
      new CompletableFuture<Boolean>().completeOnTimeout(true, SECONDS, TimeUnit.SECONDS);

  /** Throws if the deadline has passed, or will pass within a millisecond. */
  void check(Exception reason) {
    try {
      boolean unused = over.get(1, TimeUnit.MILLISECONDS);
      throw new AssertionError("not within " + SECONDS + " s", reason);
    } catch (TimeoutException e) {
      // There is time left to try again.
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns a call's result, and repeats the call while it fails as unavailable. */
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
