package dev.weir.admin.internal.http;

import dev.weir.Ticker;
import java.time.Instant;

/** The reading of a wall clock. */
public final class Clock {
  private Clock() {}

  /** Returns the time in whole seconds. */
  public static Instant instant(Ticker wall) {
    return Instant.ofEpochSecond(Math.floorDiv(wall.nanos(), 1_000_000_000L));
  }
}
