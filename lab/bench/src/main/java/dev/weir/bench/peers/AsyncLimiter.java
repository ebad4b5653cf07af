package dev.weir.bench.peers;

import java.util.concurrent.CompletionStage;

/** A limiter whose callers need not wait for it. */
public interface AsyncLimiter extends KeyedLimiter {
  /** As {@link #tryAcquire}, without waiting for the answer. Fails where that throws. */
  CompletionStage<Boolean> tryAcquireAsync(String key);
}
