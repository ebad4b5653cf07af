package dev.weir.stress;

import dev.weir.Algorithm;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;

/** A store of one limit, and keys that meet in one segment of its table, one behind the other. */
abstract class Meeting {
  private final MemoryStore store = new MemoryStore(1_000, 1 << 20);
  private final Limit limit;

  Meeting(Algorithm algorithm) {
    Policy policy = Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build();
    limit = store.limit("limit", policy, 0);
  }

  /** Asks for the one permit that a key has. */
  final boolean ask(int key) {
    return store.decide(limit, 7L << 60 | key, 1, 0) >= 0;
  }

  /** Has the policy put in force anew, which changes what a limit knows of its tables. */
  final void putInForce(Algorithm algorithm) {
    store.limit("limit", Policy.builder(Quota.perSecond(1)).algorithm(algorithm).build(), 0);
  }
}
