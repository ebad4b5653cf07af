package dev.weir.server.internal.guard;

import dev.weir.LoadSignal;
import dev.weir.Ticker;
import dev.weir.engine.load.InFlightLoad;
import dev.weir.engine.load.ProcessorLoad;
import dev.weir.server.internal.settings.LoadSource;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * The load for elastic rules, from the source in the settings. Safe for use by many threads.
 *
 * <p>Without a reading, or with one that is older than the settings allow, the load is unknown and
 * elastic rules are enforced.
 */
public final class SystemLoad implements LoadSignal {
  /** Time between two polls of the processors. */
  public static final long POLL_MILLIS = ProcessorLoad.PERIOD.toMillis();

  /** A reading that a client has sent, and its time. */
  private record LoadReading(double load, long atNanos) {}

  private final LoadSource source;
  private final long keepNanos;
  private final Ticker ticker;
  private final ProcessorLoad processors;
  private final InFlightLoad inFlight;
  private volatile LoadReading pushed;

  private SystemLoad(ServerSettings settings, Ticker ticker, ProcessorLoad processors) {
    source = settings.value(Settings.LOAD_SIGNAL);
    inFlight = new InFlightLoad(settings.value(Settings.LOAD_IN_FLIGHT));
    keepNanos = settings.value(Settings.LOAD_KEEP).toNanos();
    this.ticker = ticker;
    this.processors = processors;
    pushed = new LoadReading(Double.NaN, ticker.nanos());
  }

  SystemLoad(ServerSettings settings, Ticker ticker, DoubleSupplier cpu) {
    this(settings, ticker, new ProcessorLoad(ticker, settings.value(Settings.LOAD_KEEP), cpu));
  }

  public static SystemLoad of(ServerSettings settings, Ticker ticker) {
    return new SystemLoad(
        settings, ticker, new ProcessorLoad(ticker, settings.value(Settings.LOAD_KEEP)));
  }

  public LoadSource source() {
    return source;
  }

  @Override
  public double load() {
    return switch (source) {
      case CPU -> processors.load();
      case IN_FLIGHT -> inFlight.load();
      case PUSHED -> {
        LoadReading last = pushed;
        yield ticker.nanos() - last.atNanos > keepNanos ? Double.NaN : last.load;
      }
    };
  }

  /** Polls the processors, if they are the source; called every {@link #POLL_MILLIS}. */
  public void poll() {
    if (source == LoadSource.CPU) {
      processors.poll();
    }
  }

  /** Takes a reading from a client: at least 0, where 1 is full load. */
  public void push(double load) {
    pushed = new LoadReading(load, ticker.nanos());
  }

  /** Returns whether requests have to be counted as in flight. */
  public boolean countsRequests() {
    return source == LoadSource.IN_FLIGHT;
  }

  /** Counts requests as in flight until they are answered, if that is the source. */
  public <A> Consumer<? super A> counting(int requests, Consumer<? super A> done) {
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
