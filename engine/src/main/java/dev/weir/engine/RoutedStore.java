package dev.weir.engine;

import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.Fingerprint;
import dev.weir.LocalStore;
import dev.weir.Policy;
import dev.weir.Renewal;
import dev.weir.Store;
import dev.weir.engine.internal.stores.SplitBatch;
import dev.weir.engine.internal.stores.SplitRequest;
import dev.weir.rules.StoreChoice;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Two stores as one, usually a store in this process and one that several processes share: each
 * limit is in one of them, by its rule's choice. Any two stores will do; if one of them is a {@link
 * LocalStore}, requests over both are decided in fewer steps. Safe for use by many threads.
 *
 * <p>A request whose charges are all in one store is decided by that store alone. One with charges
 * in both is all or nothing as well, and is answered when the second store has answered: it is
 * charged in one first, the one that answers on the caller's thread if either does, and given back
 * there if the other refuses. In between it may cause another request to be refused wrongly, but
 * never to be admitted. Permits that {@link Store#refund} cannot give back, for example because a
 * bucket was charged again meanwhile, stay charged.
 *
 * <p>A name is in force in one of the stores. Its state does not move to the other: within a window
 * after such a change both quotas can be admitted.
 */
public final class RoutedStore implements Store {
  private final Store local;

  /** The store of rules that do not choose one; the same as the local one if there is no other. */
  private final Store shared;

  private final boolean hasShared;

  /** The store that is charged first if a request has charges in both. */
  private final Store first;

  private final Store second;

  /** The store in which each name is in force. */
  private final ConcurrentHashMap<String, Store> homes = new ConcurrentHashMap<>();

  private RoutedStore(Store local, Store shared, boolean hasShared) {
    this.local = local;
    this.shared = shared;
    this.hasShared = hasShared;
    boolean sharedAnswersAtOnce = !(local instanceof LocalStore) && shared instanceof LocalStore;
    first = sharedAnswersAtOnce ? shared : local;
    second = sharedAnswersAtOnce ? local : shared;
  }

  /** Returns a store for rules that are counted in this process, and no others. */
  public static RoutedStore local(Store local) {
    return new RoutedStore(local, local, false);
  }

  /**
   * Returns a store for rules of both kinds, with the shared one as the default. It closes both.
   */
  public static RoutedStore of(Store local, Store shared) {
    return new RoutedStore(local, shared, true);
  }

  /**
   * Returns a store that counts every rule in one store, whichever the rule names: for a replay and
   * other trials of rules.
   */
  public static RoutedStore inOne(Store store) {
    return new RoutedStore(store, store, true);
  }

  /** Returns whether there is a store of that choice. */
  public boolean has(StoreChoice choice) {
    return hasShared || choice != StoreChoice.SHARED;
  }

  private Store store(StoreChoice choice) {
    return choice == StoreChoice.LOCAL ? local : shared;
  }

  /**
   * Returns the store that a binding belongs to; a binding of neither goes to the shared one, which
   * refuses it.
   */
  private Store storeOf(Binding binding) {
    return shared == local || local.owns(binding) ? local : shared;
  }

  /** Returns the store in this process if it decides on the caller's thread, else null. */
  @Nullable LocalStore localStore() {
    return local instanceof LocalStore here ? here : null;
  }

  /** Returns whether {@link #localStore} decides what is charged to a binding. */
  public boolean decidesHere(Binding binding) {
    return local instanceof LocalStore && storeOf(binding) == local;
  }

  /** Returns whether a binding is of the store that no other process shares. */
  boolean isUnshared(Binding binding) {
    return storeOf(binding) == local;
  }

  /** Returns whether the store of that choice counts lent permits for as long as they may last. */
  public boolean countsLent(StoreChoice choice) {
    return store(choice).countsLent();
  }

  /** Returns whether both stores count lent permits for as long as they may last. */
  @Override
  public boolean countsLent() {
    return local.countsLent() && shared.countsLent();
  }

  @Override
  public boolean owns(Binding binding) {
    return local.owns(binding) || shared.owns(binding);
  }

  @Override
  public Binding variant(Binding binding, Policy policy) {
    return storeOf(binding).variant(binding, policy);
  }

  /** Returns the fingerprints of the shared store, if there is one. */
  @Override
  public Fingerprint fingerprint() {
    return shared.fingerprint();
  }

  /** Returns the fingerprints of keys of the store in this process. */
  Fingerprint ofLocal() {
    return local.fingerprint();
  }

  /**
   * Puts a policy in force in the default store, as {@link #bind(String, Policy, StoreChoice,
   * long)}.
   */
  @Override
  public Binding bind(String name, Policy policy, long nowNanos) {
    return bind(name, policy, StoreChoice.DEFAULT, nowNanos);
  }

  /**
   * Puts a policy in force under a name in the store of that choice, and takes the name out of
   * force in the other.
   *
   * @throws IllegalArgumentException if there is no such store
   * @throws IllegalStateException if {@link Store#bind} throws it
   */
  public Binding bind(String name, Policy policy, StoreChoice choice, long nowNanos) {
    if (!has(choice)) {
      throw new IllegalArgumentException(name + ": " + missing(choice));
    }
    Store store = store(choice);
    Binding binding = store.bind(name, policy, nowNanos);
    Store before = homes.put(name, store);
    if (before != null && before != store) {
      before.retire(name, nowNanos);
    }
    return binding;
  }

  /** Returns the problem of a rule with that choice if there is no such store. */
  public static String missing(StoreChoice choice) {
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
    int here = countHere(charges);
    if (here == charges.size()) {
      local.decide(charges, nowNanos, done);
    } else if (here == 0) {
      shared.decide(charges, nowNanos, done);
    } else {
      for (int i = 0; i < charges.size(); i++) {
        own(charges.binding(i));
      }
      new SplitRequest(first, second, charges, nowNanos, done).decide();
    }
  }

  private int countHere(Charges charges) {
    if (shared == local) {
      return charges.size();
    }
    int here = 0;
    for (int i = 0; i < charges.size(); i++) {
      here += local.owns(charges.binding(i)) ? 1 : 0;
    }
    return here;
  }

  /** Refuses a binding of neither store, before its request is charged anywhere. */
  private void own(Binding binding) {
    if (!owns(binding)) {
      throw new IllegalArgumentException(
          "binding: " + binding + " (expected: one of either store)");
    }
  }

  @Override
  public void expect(Charges[] requests, int count) {
    local.expect(requests, count);
    if (shared != local) {
      shared.expect(requests, count);
    }
  }

  @Override
  public void together(Runnable asks) {
    if (shared == local || local instanceof LocalStore) {
      shared.together(asks);
    } else {
      shared.together(() -> local.together(asks));
    }
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    int here = countHere(batch);
    if (here == batch.size()) {
      local.decide(batch, nowNanos, done);
    } else if (here == 0) {
      shared.decide(batch, nowNanos, done);
    } else {
      for (int i = 0; i < batch.size(); i++) {
        own(batch.binding(i));
      }
      SplitBatch.decide(first, second, batch, nowNanos, done);
    }
  }

  private int countHere(Batch batch) {
    if (shared == local) {
      return batch.size();
    }
    int here = 0;
    for (int i = 0; i < batch.size(); i++) {
      here += local.owns(batch.binding(i)) ? 1 : 0;
    }
    return here;
  }

  @Override
  public void refund(
      Binding binding,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    storeOf(binding).refund(binding, fingerprint, permits, charged, nowNanos, done);
  }

  @Override
  public void refundNewest(
      Binding binding, long fingerprint, long permits, long nowNanos, LongConsumer done) {
    storeOf(binding).refundNewest(binding, fingerprint, permits, nowNanos, done);
  }

  @Override
  public void renew(
      Binding binding,
      long fingerprint,
      Decision charged,
      long nowNanos,
      Consumer<? super Renewal> done) {
    storeOf(binding).renew(binding, fingerprint, charged, nowNanos, done);
  }

  @Override
  public void reset(
      Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
    storeOf(binding).reset(binding, fingerprint, nowNanos, done);
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

  /** Returns the bound on keys of the store in this process. */
  @Override
  public long maxKeys() {
    return local.maxKeys();
  }

  @Override
  public long bytes() {
    return shared == local ? local.bytes() : local.bytes() + shared.bytes();
  }

  /** Returns the bound on bytes of the store in this process. */
  @Override
  public long maxBytes() {
    return local.maxBytes();
  }

  /** Returns how full the fuller of the two stores is. */
  @Override
  public int fullPercent() {
    return Math.max(local.fullPercent(), shared.fullPercent());
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
