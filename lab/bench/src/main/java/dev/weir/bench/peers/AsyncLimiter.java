package dev.weir.bench.peers;

import java.util.concurrent.CompletionStage;

/** A limiter whose callers need not wait for its answer. */
public interface AsyncLimiter extends KeyedLimiter {
  /**
   * Requests one permit without waiting for the answer. The stage fails where {@link #tryAcquire}
   * throws.
   */
  CompletionStage<Boolean> tryAcquireAsync(String key);
}
