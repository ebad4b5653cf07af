package dev.weir.stress;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;

/**
 * The base of the tests: a store of one limit, and keys that meet in one segment of its table, one
 * behind the other.
 */
abstract class Meeting {
  private final MemoryStore store = new MemoryStore(1_000, 1 << 20);
  private final Binding binding;

  /** Creates a store in which some keys have had their permit. */
  Meeting(Algorithm algorithm, int... used) {
    Policy policy = Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build();
    binding = store.bind("limit", policy, 0);
    for (int key : used) {
      request(store, binding, key);
    }
  }

  /** Requests the one permit that a key has. */
  final boolean request(int key) {
    return request(store, binding, key);
  }

  private static boolean request(MemoryStore store, Binding binding, int key) {
    return store.decide(binding, fingerprint(key), 1, 0) >= 0;
  }

  private static long fingerprint(int key) {
    return 7L << 60 | key;
  }

  /** Resets a key; returns whether it had used anything. */
  final boolean forget(int key) {
    return store.reset(binding, fingerprint(key), 0);
  }

  /** Puts the policy in force anew, which changes the tables of a binding. */
  final void putInForce(Algorithm algorithm) {
    store.bind("limit", Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build(), 0);
  }
}
