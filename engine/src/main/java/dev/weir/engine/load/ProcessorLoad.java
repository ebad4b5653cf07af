package dev.weir.engine.load;

import com.sun.management.OperatingSystemMXBean;
import dev.weir.LoadSignal;
import dev.weir.Ticker;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * The load of the machine's processors, for elastic rules: 0 is idle, 1 is all of them busy. It has
 * to be {@linkplain #poll polled}, as {@link dev.weir.engine.RunningEngine} does. Safe for use by
 * many threads.
 *
 * <p>Without a reading, or with one that is too old, the load is unknown and elastic rules are
 * enforced.
 */
public final class ProcessorLoad implements LoadSignal {
  /** The intended time between two polls; a reading covers that time. */
  public static final Duration PERIOD = Duration.ofMillis(500);

  private record Reading(double load, long atNanos) {}

  private final Ticker ticker;
  private final long keepNanos;
  private final DoubleSupplier source;
  private volatile Reading last;

  /** The reading before the last; only the polling thread uses it. */
  private double before = Double.NaN;

  /**
   * Creates a signal that reads the machine, or the container that this process runs in.
   *
   * @param keep how long a reading counts
   */
  public ProcessorLoad(Ticker ticker, Duration keep) {
    this(ticker, keep, machine());
  }

  /**
   * Creates a signal that reads another source.
   *
   * @param source returns a load, or a negative number or NaN if it has none
   */
  public ProcessorLoad(Ticker ticker, Duration keep, DoubleSupplier source) {
    this.ticker = ticker;
    this.keepNanos = keep.toNanos();
    this.source = source;
    this.last = new Reading(Double.NaN, ticker.nanos());
  }

  private static DoubleSupplier machine() {
    boolean known = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean;
    return known
        ? ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)::getCpuLoad
        : () -> Double.NaN;
  }

  @Override
  public double load() {
    Reading reading = last;
    return ticker.nanos() - reading.atNanos > keepNanos ? Double.NaN : reading.load;
  }

  /**
   * Takes a reading; to be called every {@link #PERIOD} by one thread at a time. The higher of the
   * last two readings counts: one that follows a reading by other code in this process at once
   * shows no load.
   */
  public void poll() {
    double load = source.getAsDouble();
    double higher = Double.isNaN(before) ? load : Math.max(load, before);
    last = new Reading(load >= 0 ? higher : Double.NaN, ticker.nanos());
    before = load;
  }
}
