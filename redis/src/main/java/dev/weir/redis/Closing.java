package dev.weir.redis;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for the end. */
final class Closing {
  private static final long STEP_NANOS = 1_000_000L;

  private Closing() {}

  /** Waits until it is so, at most about so long. */
  static void await(BooleanSupplier done, long mostNanos) {
    for (long waited = 0; waited < mostNanos && !done.getAsBoolean(); waited += STEP_NANOS) {
      LockSupport.parkNanos(STEP_NANOS);
    }
  }
}
