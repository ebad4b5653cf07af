package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.Charges;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.Ticker;

/** A store full of token buckets, and the fingerprints of their keys. Safe for many threads. */
final class StoreKeys {
  private final Store store = new MemoryStore();
  private final Ticker ticker;
  private final Limit limit;
  private final long[] fingerprints;

  StoreKeys(int keys, Load load, Ticker ticker) {
    this.ticker = ticker;
    Policy policy = load.policy(Algorithm.TOKEN_BUCKET);
    limit = store.limit("bench", policy, ticker.nanos());
    Fingerprint fingerprint = Fingerprint.random();
    fingerprints = new long[keys];
    Charges charges = new Charges();
    for (int i = 0; i < keys; i++) {
      fingerprints[i] = fingerprint.of(Keys.key(i));
      charges.clear().add(limit, fingerprints[i], load.fillPermits(policy));
      store.decide(charges, ticker.nanos(), StoreKeys::done);
    }
  }

  /** Asks for one permit for that key. */
  boolean decide(Charges charges, int key) {
    charges.clear().add(limit, fingerprints[key], 1);
    store.decide(charges, ticker.nanos(), StoreKeys::done);
    return charges.allowed();
  }

  /**
   * Asks for one permit for each of many keys, in one call. No key's answer depends on another's.
   *
   * @return how many got theirs
   */
  int decide(Charges charges, int[] keys, int from, int count) {
    charges.clear();
    for (int i = from; i < from + count; i++) {
      charges.add(limit, fingerprints[keys[i]], 1, Charges.Role.OPTIONAL);
    }
    store.decide(charges, ticker.nanos(), StoreKeys::done);
    int fit = 0;
    for (int i = 0; i < count; i++) {
      fit += charges.fits(i) ? 1 : 0;
    }
    return fit;
  }

  /** Does nothing: the answer comes before {@link Store#decide} returns, so nobody waits for it. */
  private static void done(Charges charges) {}
}
