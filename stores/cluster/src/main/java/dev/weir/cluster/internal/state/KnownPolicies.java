package dev.weir.cluster.internal.state;

import dev.weir.Binding;
import dev.weir.MemoryStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The policies that operations of one group named, and their bindings in its table. Changed by the
 * thread that applies entries; other threads may read meanwhile.
 */
final class KnownPolicies {
  /** The most policies; far more than rules have, as each customer's own limit is one too. */
  static final int MOST = 1 << 17;

  /** The time for which an unused policy is kept longer than it can matter. */
  private static final long KEPT_NANOS = 60_000_000_000L;

  /** The written form of a policy, as in entries. */
  private static final class WrittenPolicy {
    private final byte[] bytes;

    WrittenPolicy(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof WrittenPolicy same && Arrays.equals(bytes, same.bytes);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }
  }

  /** A policy that operations have named. */
  private static final class KnownPolicy {
    final ClusterPolicy policy;
    final Binding binding;
    long lastUseNanos;

    KnownPolicy(ClusterPolicy policy, Binding binding, long lastUseNanos) {
      this.policy = policy;
      this.binding = binding;
      this.lastUseNanos = lastUseNanos;
    }
  }

  /** A policy, and the time of the last operation that named it. */
  record Use(ClusterPolicy policy, long lastNanos) {}

  private final Map<WrittenPolicy, KnownPolicy> policies = new ConcurrentHashMap<>();

  KnownPolicies() {}

  /**
   * Creates the policies of an image.
   *
   * @param restored the image's table
   * @throws RuntimeException if a policy is not one of that table's
   */
  KnownPolicies(MemoryStore restored, List<Use> uses) {
    for (Use each : uses) {
      KnownPolicy known =
          new KnownPolicy(each.policy, rebound(restored, each.policy), each.lastNanos);
      policies.put(new WrittenPolicy(each.policy.bytes()), known);
    }
  }

  private static Binding rebound(MemoryStore restored, ClusterPolicy policy) {
    ClusterPolicy base = policy.base();
    return base == null
        ? restored.rebound(policy.name(), policy.policy())
        : restored.reboundVariant(rebound(restored, base), policy.policy());
  }

  /** Replaces all policies by those of another object. */
  void become(KnownPolicies other) {
    policies.clear();
    policies.putAll(other.policies);
  }

  /** Returns all policies, in no order. */
  List<Use> uses() {
    List<Use> uses = new ArrayList<>();
    for (KnownPolicy each : policies.values()) {
      uses.add(new Use(each.policy, each.lastUseNanos));
    }
    return uses;
  }

  /** Returns a policy's binding; null if it is not known. May be called by any thread. */
  @Nullable Binding known(byte[] policy) {
    KnownPolicy known = policies.get(new WrittenPolicy(policy));
    return known == null ? null : known.binding;
  }

  /** Returns a policy's binding, created if it is not known; null if that is not possible. */
  @Nullable Binding bound(MemoryStore store, byte[] policy, long now) {
    WrittenPolicy written = new WrittenPolicy(policy);
    KnownPolicy known = policies.get(written);
    if (known == null && policies.size() < MOST) {
      ClusterPolicy read = ClusterPolicy.read(policy);
      Binding binding = newlyBound(store, read, now);
      known = binding == null ? null : new KnownPolicy(read, binding, now);
      if (known != null) {
        policies.put(written, known);
      }
    }
    if (known == null) {
      return null;
    }
    known.lastUseNanos = now;
    return known.binding;
  }

  private @Nullable Binding newlyBound(MemoryStore store, ClusterPolicy policy, long now) {
    ClusterPolicy base = policy.base();
    try {
      if (base == null) {
        return store.bind(policy.name(), policy.policy(), now);
      }
      Binding inForce = bound(store, base.bytes(), now);
      return inForce == null ? null : store.variant(inForce, policy.policy());
    } catch (IllegalStateException | IllegalArgumentException e) {
      return null; // It has changed its algorithm or window too often within its windows.
    }
  }

  /** Removes policies that no operation has named for longer than they can matter. */
  void expire(MemoryStore store, long now) {
    List<KnownPolicy> unused = new ArrayList<>();
    for (KnownPolicy each : policies.values()) {
      if (now - each.lastUseNanos > 2 * each.policy.memoryNanos() + KEPT_NANOS) {
        unused.add(each);
      }
    }
    for (KnownPolicy each : unused) {
      policies.remove(new WrittenPolicy(each.policy.bytes()));
      String name = each.policy.name();
      if (policies.values().stream().noneMatch(kept -> kept.policy.name().equals(name))) {
        store.retire(name, now);
      }
    }
  }
}
