package dev.weir.server.internal.log;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.SingleLimiter;
import dev.weir.Ticker;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Filter;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * The writer of lines to the server's log at a limited rate, so that a recurring event does not
 * fill it. Safe for use by many threads.
 */
public final class FewLines {
  /** The lines at once; after that, one every {@value #SECONDS} seconds. */
  private static final int BURST = 6;

  private static final int SECONDS = 30;

  private final SingleLimiter limiter;
  private final AtomicLong leftOut = new AtomicLong();

  public FewLines(Ticker ticker) {
    limiter = few(ticker);
  }

  /** Returns a filter with the same rate for another logger. */
  static Filter ofOthers(Ticker ticker) {
    SingleLimiter limiter = few(ticker);
    return line -> limiter.tryAcquire().allowed();
  }

  private static SingleLimiter few(Ticker ticker) {
    Policy policy =
        Policy.builder(new Quota(1, SECONDS * 1_000_000_000L))
            .algorithm(Algorithm.TOKEN_BUCKET)
            .burst(BURST)
            .build();
    return RateLimiter.builder(policy).ticker(ticker).maxKeys(1).buildSingle();
  }

  /** Writes a line, or leaves it out and counts it; returns whether it was written. */
  public boolean write(Level level, String line) {
    return write(level, line, null);
  }

  /** Writes a line with values by name. See {@link #write(Level, String)}. */
  public boolean write(LogEvent line) {
    return counted(writeOrKeep(line));
  }

  /** Writes a line with the stack trace of an error. See {@link #write(Level, String)}. */
  public boolean write(Level level, String line, @Nullable Throwable thrown) {
    return counted(writeOrKeep(level, line, thrown));
  }

  private boolean counted(boolean written) {
    if (!written) {
      leftOut.incrementAndGet();
    }
    return written;
  }

  /**
   * Writes a line if the rate allows; otherwise the caller keeps it. Returns whether it was
   * written.
   */
  public boolean writeOrKeep(LogEvent line) {
    if (!limiter.tryAcquire().allowed()) {
      return false;
    }
    long before = leftOut.getAndSet(0);
    if (before > 0) {
      line.setMessage(line.getMessage() + " (" + before + " earlier lines left out)");
      line.with("left_out", before);
    }
    line.log();
    return true;
  }

  /** Writes a line without values by name. See {@link #writeOrKeep(LogEvent)}. */
  public boolean writeOrKeep(Level level, String line) {
    return writeOrKeep(LogEvent.of(level, line));
  }

  private boolean writeOrKeep(Level level, String line, @Nullable Throwable thrown) {
    LogEvent event = LogEvent.of(level, line);
    event.setThrown(thrown);
    return writeOrKeep(event);
  }
}
