package dev.weir.admin.internal.access;

import dev.weir.Decision;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import org.jspecify.annotations.Nullable;

/**
 * The limit on failures: 5 a minute for each source, and 30 in all. Safe for use by many threads.
 */
final class FailureLimit {
  static final int EACH = 5;
  static final int ALL = 30;

  private final RateLimiter each;
  private final RateLimiter all;

  FailureLimit(Ticker ticker) {
    each = RateLimiter.builder(Quota.perMinute(EACH)).ticker(ticker).build();
    all = RateLimiter.builder(Quota.perMinute(ALL)).ticker(ticker).build();
  }

  /**
   * Counts a failure.
   *
   * @return null, or the refusal if there were too many. Once all failures are refused, further
   *     sources are not counted, so memory holds at most as many sources as counted failures
   */
  @Nullable Decision failed(String source) {
    Decision any = all.peek("");
    if (!any.allowed()) {
      return any;
    }
    Decision own = each.tryAcquire(source);
    if (!own.allowed()) {
      return own;
    }
    Decision counted = all.tryAcquire("");
    return counted.allowed() ? null : counted;
  }

  /** Returns the number of sources in memory. */
  long sources() {
    return each.keys();
  }
}
