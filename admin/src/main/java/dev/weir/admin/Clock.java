package dev.weir.admin;

import dev.weir.Ticker;
import java.time.Instant;

/** Reads a wall clock. */
final class Clock {
  private Clock() {}

  /** Returns the time in whole seconds. */
  static Instant instant(Ticker wall) {
    return Instant.ofEpochSecond(Math.floorDiv(wall.nanos(), 1_000_000_000L));
  }
}
