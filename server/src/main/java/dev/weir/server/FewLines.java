package dev.weir.server;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Filter;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/**
 * Writes lines to the server's log, but few: what happens again and again must not fill it. Safe
 * for use by many threads.
 */
final class FewLines {
  /** At once; enough to tell what happened. After that, one every {@value #SECONDS} seconds. */
  private static final int BURST = 6;

  private static final int SECONDS = 30;

  private final RateLimiter limiter;
  private final AtomicLong leftOut = new AtomicLong();

  FewLines(Ticker ticker) {
    limiter = few(ticker);
  }

  /** Returns what says whether a line may be written that somebody else writes. */
  static Filter ofOthers(Ticker ticker) {
    RateLimiter limiter = few(ticker);
    return line -> limiter.tryAcquire("").allowed();
  }

  private static RateLimiter few(Ticker ticker) {
    Policy policy =
        Policy.builder(new Quota(1, SECONDS * 1_000_000_000L))
            .algorithm(Algorithm.TOKEN_BUCKET)
            .burst(BURST)
            .build();
    return RateLimiter.builder(policy).ticker(ticker).maxKeys(1).build();
  }

  /** Writes a line, or leaves it out and counts it; returns whether it was written. */
  boolean write(Level level, String line) {
    return write(level, line, null);
  }

  /** As {@link #write(Level, String)}, with what was thrown. */
  boolean write(Level level, String line, @Nullable Throwable thrown) {
    boolean written = writeOrKeep(level, line, thrown);
    if (!written) {
      leftOut.incrementAndGet();
    }
    return written;
  }

  /** Writes a line, unless it has to wait: the caller keeps it then. Returns whether it did. */
  boolean writeOrKeep(Level level, String line) {
    return writeOrKeep(level, line, null);
  }

  private boolean writeOrKeep(Level level, String line, @Nullable Throwable thrown) {
    if (!limiter.tryAcquire("").allowed()) {
      return false;
    }
    long before = leftOut.getAndSet(0);
    String said = before == 0 ? line : line + " (" + before + " lines left out before)";
    Logs.LOG.log(level, said, thrown);
    return true;
  }
}
