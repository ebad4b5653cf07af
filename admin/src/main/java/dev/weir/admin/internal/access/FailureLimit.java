package dev.weir.admin.internal.access;

import dev.weir.Decision;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import org.jspecify.annotations.Nullable;

/** Limits failures: 5 a minute for each source, and 30 in all. Safe for use by many threads. */
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
   * @return null, or the refusal if there were too many. Sources beyond all failures are not even
   *     counted, so there are never more of them in memory than failures
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

  /** Returns how many sources are in memory. */
  long sources() {
    return each.keys();
  }
}
