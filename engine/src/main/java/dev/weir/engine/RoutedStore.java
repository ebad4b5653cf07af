package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.Limit;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Store;
import dev.weir.rules.StoreChoice;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A store in this process and, if there is one, a store that others share: each limit lies in one
 * of them, as its rule says. Safe for use by many threads.
 *
 * <p>A request whose charges all lie in one store is that store's alone. One with charges in both
 * is all or nothing as well, and answered by the shared store's thread: it is charged in this
 * process first, and given back if the shared store refuses. In between it may have another request
 * denied wrongly; it never has one admitted. What {@link Store#refund} cannot give back, as where a
 * bucket was charged again meanwhile, stays charged.
 *
 * <p>A name is in force in one of the stores. Its state does not move to the other: within a window
 * after such a change both quotas can be admitted.
 */
public final class RoutedStore implements Store {
  private final Store local;

  /** The default; the same as the local one if there is no other. */
  private final Store shared;

  private final boolean hasShared;

  /** The local store, if there are two to be told apart. */
  private final @Nullable MemoryStore memory;

  /** The store that each name is in force in. */
  private final ConcurrentHashMap<String, Store> homes = new ConcurrentHashMap<>();

  private RoutedStore(Store local, Store shared, boolean hasShared, @Nullable MemoryStore memory) {
    this.local = local;
    this.shared = shared;
    this.hasShared = hasShared;
    this.memory = memory;
  }

  /** Returns a store for rules that are counted in this process, and no others. */
  public static RoutedStore local(Store local) {
    return new RoutedStore(local, local, false, null);
  }

  /** Returns a store for rules of both kinds, by default the shared one's. It closes both. */
  public static RoutedStore of(MemoryStore local, Store shared) {
    return new RoutedStore(local, shared, true, local);
  }

  /**
   * Returns a store that counts every rule in one, whichever the rule names: for a replay, or
   * whoever else tries rules out.
   */
  public static RoutedStore inOne(Store store) {
    return new RoutedStore(store, store, true, null);
  }

  /** Returns whether there is a store of that choice. */
  public boolean has(StoreChoice choice) {
    return hasShared || choice != StoreChoice.REDIS;
  }

  private Store store(StoreChoice choice) {
    return choice == StoreChoice.LOCAL ? local : shared;
  }

  private Store storeOf(Limit limit) {
    return memory == null || memory.owns(limit) ? local : shared;
  }

  /** Returns those of the shared store, if there is one. */
  @Override
  public Fingerprint fingerprint() {
    return shared.fingerprint();
  }

  /** As {@link #limit(String, Policy, StoreChoice, long)}, in the default store. */
  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    return limit(name, policy, StoreChoice.DEFAULT, nowNanos);
  }

  /**
   * Puts a policy in force under a name in the store of that choice, and takes the name out of
   * force in the other.
   *
   * @throws IllegalArgumentException if there is no such store
   * @throws IllegalStateException as {@link Store#limit}
   */
  public Limit limit(String name, Policy policy, StoreChoice choice, long nowNanos) {
    if (!has(choice)) {
      throw new IllegalArgumentException(name + ": " + missing(choice));
    }
    Store store = store(choice);
    Limit limit = store.limit(name, policy, nowNanos);
    Store before = homes.put(name, store);
    if (before != null && before != store) {
      before.retire(name, nowNanos);
    }
    return limit;
  }

  /** Returns what is wrong with a rule of that choice if there is no such store. */
  static String missing(StoreChoice choice) {
    return "store: " + choice.text() + " (expected: local, there is no shared store)";
  }

  @Override
  public void retire(String name, long nowNanos) {
    Store home = homes.remove(name);
    if (home != null) {
      home.retire(name, nowNanos);
    }
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    int here = memory == null ? charges.size() : countHere(memory, charges);
    if (memory == null || here == charges.size()) {
      local.decide(charges, nowNanos, done);
    } else if (here == 0) {
      shared.decide(charges, nowNanos, done);
    } else {
      new SplitRequest(memory, shared, charges, nowNanos, done).decide();
    }
  }

  private static int countHere(MemoryStore memory, Charges charges) {
    int here = 0;
    for (int i = 0; i < charges.size(); i++) {
      here += memory.owns(charges.limit(i)) ? 1 : 0;
    }
    return here;
  }

  /** A request with charges in both stores waits for the shared one: it gains nothing. */
  @Override
  public void expect(Charges charges) {
    int here = memory == null ? charges.size() : countHere(memory, charges);
    if (here == charges.size()) {
      local.expect(charges);
    } else if (here == 0) {
      shared.expect(charges);
    }
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    int here = memory == null ? batch.size() : countHere(memory, batch);
    if (memory == null || here == batch.size()) {
      local.decide(batch, nowNanos, done);
    } else if (here == 0) {
      shared.decide(batch, nowNanos, done);
    } else {
      SplitBatch.decide(memory, shared, batch, nowNanos, done);
    }
  }

  private static int countHere(MemoryStore memory, Batch batch) {
    int here = 0;
    for (int i = 0; i < batch.size(); i++) {
      here += memory.owns(batch.limit(i)) ? 1 : 0;
    }
    return here;
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    storeOf(limit).refund(limit, fingerprint, permits, charged, nowNanos, done);
  }

  @Override
  public void expire(long nowNanos) {
    local.expire(nowNanos);
    if (shared != local) {
      shared.expire(nowNanos);
    }
  }

  /** Returns how many keys have state in this process; a remote store has none here. */
  @Override
  public long keys() {
    return shared == local ? local.keys() : local.keys() + shared.keys();
  }

  /** Returns the bound of the store in this process. */
  @Override
  public long maxKeys() {
    return local.maxKeys();
  }

  @Override
  public long bytes() {
    return shared == local ? local.bytes() : local.bytes() + shared.bytes();
  }

  /** Returns the bound of the store in this process. */
  @Override
  public long maxBytes() {
    return local.maxBytes();
  }

  @Override
  public void close() {
    try {
      shared.close();
    } finally {
      if (shared != local) {
        local.close();
      }
    }
  }
}
