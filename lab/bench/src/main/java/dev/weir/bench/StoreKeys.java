package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Ticker;

/** A store full of token buckets, for requests by fingerprint. Safe for many threads. */
final class StoreKeys {
  private final MemoryStore store = new MemoryStore(Keys.MOST);
  private final Ticker ticker;
  private final Binding limit;

  StoreKeys(int keys, Load load, Ticker ticker) {
    this.ticker = ticker;
    Policy policy = load.policy(Algorithm.TOKEN_BUCKET);
    limit = store.bind("bench", policy, ticker.nanos());
    for (int i = 0; i < keys; i++) {
      store.decide(limit, Keys.hashed(i), load.fillPermits(policy), ticker.nanos());
    }
  }

  /** Requests one permit for that key. */
  boolean decide(int key) {
    return PackedDecision.allowed(store.decide(limit, Keys.hashed(key), 1, ticker.nanos()));
  }

  /**
   * Requests one permit for each of many keys, in one call.
   *
   * @return the number of permits granted
   */
  int decide(Batch batch, int[] keys, int from, int count) {
    batch.clear();
    for (int i = from; i < from + count; i++) {
      batch.add(limit, Keys.hashed(keys[i]), 1);
    }
    store.decide(batch, ticker.nanos(), StoreKeys::done);
    int fit = 0;
    for (int i = 0; i < count; i++) {
      fit += batch.allowed(i) ? 1 : 0;
    }
    return fit;
  }

  /** Does nothing: the answer comes before the call returns, so no thread waits for it. */
  private static void done(Batch batch) {}
}
