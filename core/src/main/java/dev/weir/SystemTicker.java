package dev.weir;

import java.time.Instant;

/** The ticker of the system's clocks, and their only reader. */
final class SystemTicker implements Ticker {
  static final SystemTicker INSTANCE = new SystemTicker();

  static final Ticker WALL = () -> nanos(Instant.now());

  /** The offset added to the monotonic clock; fixed for the life of the process. */
  private final long offsetNanos;

  private SystemTicker() {
    offsetNanos = nanos(Instant.now()) - System.nanoTime();
  }

  private static long nanos(Instant wall) {
    return wall.getEpochSecond() * 1_000_000_000L + wall.getNano();
  }

  @Override
  public long nanos() {
    return System.nanoTime() + offsetNanos;
  }
}
