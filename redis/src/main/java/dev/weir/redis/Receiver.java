package dev.weir.redis;

import dev.weir.Reason;

/** Is told a decision; units and ranges as in {@link dev.weir.Decision}. */
@FunctionalInterface
interface Receiver {
  void decided(
      Reason reason, long remaining, long retryAfterNanos, long resetAfterNanos, long atNanos);
}
