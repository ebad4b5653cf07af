package dev.weir.server;

import com.sun.management.OperatingSystemMXBean;
import dev.weir.LoadSignal;
import dev.weir.Ticker;
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * The load that elastic rules listen to, from where the settings say. Safe for use by many threads.
 *
 * <p>What is older than the settings allow is not known, and so is what nobody has told yet: rules
 * are hard then.
 */
final class Load implements LoadSignal {
  /** How often the processors are looked at: their load is that of the time in between. */
  static final long LOOK_MILLIS = 500;

  /** A load and its time. */
  private record Known(double load, long atNanos) {}

  private final LoadSource source;
  private final long fullInFlight;
  private final long keepNanos;
  private final Ticker ticker;
  private final DoubleSupplier cpu;
  private final LongAdder inFlight = new LongAdder();
  private volatile Known known;

  /** For whoever looks. */
  private double lastLook = Double.NaN;

  Load(ServerSettings settings, Ticker ticker, DoubleSupplier cpu) {
    source = settings.value(Setting.LOAD_SIGNAL);
    fullInFlight = settings.value(Setting.LOAD_IN_FLIGHT);
    keepNanos = settings.value(Setting.LOAD_KEEP).toNanos();
    this.ticker = ticker;
    this.cpu = cpu;
    known = new Known(Double.NaN, ticker.nanos());
  }

  static Load of(ServerSettings settings, Ticker ticker) {
    boolean whole = ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean;
    return new Load(
        settings,
        ticker,
        whole
            ? ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)::getCpuLoad
            : () -> Double.NaN);
  }

  LoadSource source() {
    return source;
  }

  @Override
  public double load() {
    if (source == LoadSource.IN_FLIGHT) {
      return (double) inFlight.sum() / fullInFlight;
    }
    Known last = known;
    return ticker.nanos() - last.atNanos > keepNanos ? Double.NaN : last.load;
  }

  /**
   * Looks at the processors, if they are the source; to be called every {@link #LOOK_MILLIS}. The
   * higher of two looks counts: one right after somebody else's in this process sees no load.
   */
  void look() {
    if (source == LoadSource.CPU) {
      double load = cpu.getAsDouble();
      boolean first = Double.isNaN(lastLook);
      known =
          new Known(
              load >= 0 ? (first ? load : Math.max(load, lastLook)) : Double.NaN, ticker.nanos());
      lastLook = load;
    }
  }

  /** Takes what somebody has measured: at least 0, where 1 is full. */
  void push(double load) {
    known = new Known(load, ticker.nanos());
  }

  /** Counts requests as in flight until their answer is handed on, if that is the source. */
  <A> Consumer<? super A> counting(int requests, Consumer<? super A> done) {
    if (source != LoadSource.IN_FLIGHT) {
      return done;
    }
    inFlight.add(requests);
    return answer -> {
      inFlight.add(-requests);
      done.accept(answer);
    };
  }
}
