package dev.weir;

import java.time.Instant;

/** The only reader of the system's clocks. */
final class SystemTicker implements Ticker {
  static final SystemTicker INSTANCE = new SystemTicker();

  /** Added to the monotonic clock; fixed for the life of the process. */
  private final long offsetNanos;

  private SystemTicker() {
    Instant wall = Instant.now();
    offsetNanos = wall.getEpochSecond() * 1_000_000_000L + wall.getNano() - System.nanoTime();
  }

  @Override
  public long nanos() {
    return System.nanoTime() + offsetNanos;
  }
}
