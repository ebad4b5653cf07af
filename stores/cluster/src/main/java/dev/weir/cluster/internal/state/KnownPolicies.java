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
 * The policies that operations of one group asked for, and their bindings in its table. Changed by
 * the thread that applies entries; other threads may look meanwhile.
 */
final class KnownPolicies {
  /** Far more policies than rules have; each customer's own limit is one as well. */
  static final int MOST = 1 << 17;

  /** For how much longer than it can matter a policy is kept that nobody asks for. */
  private static final long KEPT_NANOS = 60_000_000_000L;

  /** A policy as it is written in entries. */
  private static final class Written {
    private final byte[] bytes;

    Written(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Written same && Arrays.equals(bytes, same.bytes);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }
  }

  /** A policy that operations asked for. */
  private static final class Known {
    final ClusterPolicy policy;
    final Binding binding;
    long lastUseNanos;

    Known(ClusterPolicy policy, Binding binding, long lastUseNanos) {
      this.policy = policy;
      this.binding = binding;
      this.lastUseNanos = lastUseNanos;
    }
  }

  /** A policy, and when an operation asked for it last. */
  record Use(ClusterPolicy policy, long lastNanos) {}

  private final Map<Written, Known> policies = new ConcurrentHashMap<>();

  KnownPolicies() {}

  /**
   * Creates those of an image.
   *
   * @param restored the image's table
   * @throws RuntimeException if a policy is not one of that table's
   */
  KnownPolicies(MemoryStore restored, List<Use> uses) {
    for (Use each : uses) {
      Known known = new Known(each.policy, rebound(restored, each.policy), each.lastNanos);
      policies.put(new Written(each.policy.bytes()), known);
    }
  }

  private static Binding rebound(MemoryStore restored, ClusterPolicy policy) {
    ClusterPolicy base = policy.base();
    return base == null
        ? restored.rebound(policy.name(), policy.policy())
        : restored.reboundVariant(rebound(restored, base), policy.policy());
  }

  /** Forgets all, and goes on with what another one knows. */
  void become(KnownPolicies other) {
    policies.clear();
    policies.putAll(other.policies);
  }

  /** Returns all, in no order. */
  List<Use> uses() {
    List<Use> uses = new ArrayList<>();
    for (Known each : policies.values()) {
      uses.add(new Use(each.policy, each.lastUseNanos));
    }
    return uses;
  }

  /** Returns a policy's binding; null if it is not known. May be called by any thread. */
  @Nullable Binding known(byte[] policy) {
    Known known = policies.get(new Written(policy));
    return known == null ? null : known.binding;
  }

  /** Returns a policy's binding, made if it is not known; null if it cannot be had. */
  @Nullable Binding bound(MemoryStore store, byte[] policy, long now) {
    Written written = new Written(policy);
    Known known = policies.get(written);
    if (known == null && policies.size() < MOST) {
      ClusterPolicy read = ClusterPolicy.read(policy);
      Binding binding = newlyBound(store, read, now);
      known = binding == null ? null : new Known(read, binding, now);
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

  /** Forgets those that nobody has asked for longer than they can matter. */
  void expire(MemoryStore store, long now) {
    List<Known> unused = new ArrayList<>();
    for (Known each : policies.values()) {
      if (now - each.lastUseNanos > 2 * each.policy.memoryNanos() + KEPT_NANOS) {
        unused.add(each);
      }
    }
    for (Known each : unused) {
      policies.remove(new Written(each.policy.bytes()));
      String name = each.policy.name();
      if (policies.values().stream().noneMatch(kept -> kept.policy.name().equals(name))) {
        store.retire(name, now);
      }
    }
  }
}
