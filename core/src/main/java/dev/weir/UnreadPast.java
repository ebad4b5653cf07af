package dev.weir;

import dev.weir.internal.UncertainCause;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The past of a {@link MemoryStore} that is still being read: the policies that were put in force
 * meanwhile, to be put in force when it is there. Used under the store's lock, except for {@link
 * #answer}.
 */
final class UnreadPast {
  /*
   * How does a store go on without its past? A binding has a history without tables, and so every
   * request under it leaves the fast paths by itself: nothing is checked there for the sake of a
   * start. The slow path answers it as a store does that cannot be reached, by the policy's failure
   * mode, and counts nothing.
   *
   * At the end of the reading, all that was put in force here is put in force in the store that was
   * read, which nobody else knows. Then each binding's history takes over that of the same name, by
   * one write of its tables, and requests under it take the fast path from then on. A request of
   * several names, some of which have their tables and others not, is still answered as before.
   */

  /** The time after which a request may be repeated: long readings take seconds. */
  private static final long RETRY_NANOS = 1_000_000_000L;

  private final Map<String, UnreadName> names = new LinkedHashMap<>();

  /**
   * A name that was bound before its past was read. Nothing is admitted meanwhile, so only the last
   * policy counts, and of its variants the widest: callers choose how many there are.
   */
  private static final class UnreadName {
    /** The history of the bindings. */
    private final PolicyHistory shown;

    /** The policy in force, or null after the name was taken out of force. */
    private @Nullable Policy inForce;

    /** The variant of its shape with the largest limit. */
    private @Nullable Policy widest;

    /** The variant of another shape whose states count longest. */
    private @Nullable Policy longest;

    private UnreadName(PolicyHistory shown) {
      this.shown = shown;
    }

    private boolean isInForce(Shape shape) {
      return inForce != null && inForce.shape().equals(shape);
    }
  }

  /**
   * Records that a policy is put in force.
   *
   * @param made a history without tables, for a name that has none yet
   * @return the history of the binding
   */
  PolicyHistory bind(PolicyHistory made, Policy policy) {
    UnreadName name = names.computeIfAbsent(made.name(), any -> new UnreadName(made));
    if (!name.isInForce(policy.shape())) {
      name.widest = null;
    }
    name.inForce = policy;
    return name.shown;
  }

  /** Records that a name is taken out of force. */
  void retire(String named) {
    UnreadName name = names.get(named);
    if (name != null) {
      name.inForce = null;
    }
  }

  /** Records that keys of a binding are decided under another policy as well. */
  void variant(MemoryBinding of, Policy policy) {
    UnreadName name = names.get(of.name());
    if (name == null) {
      return;
    }
    if (name.isInForce(policy.shape())) {
      if (name.widest == null || policy.quota().permits() > name.widest.quota().permits()) {
        name.widest = policy;
      }
    } else if (name.longest == null
        || policy.shape().memoryNanos() > name.longest.shape().memoryNanos()) {
      name.longest = policy;
    }
  }

  /**
   * Puts in force in a store, which has been read, what was put in force here.
   *
   * @throws IllegalStateException if {@link MemoryStore#bind} throws it
   */
  void putInForce(MemoryStore read, long nowNanos) {
    names.forEach((named, name) -> putInForce(named, name, read, nowNanos));
  }

  private static void putInForce(String named, UnreadName name, MemoryStore read, long nowNanos) {
    if (name.inForce == null) {
      read.retire(named, nowNanos);
      return;
    }
    Binding binding = read.bind(named, name.inForce, nowNanos);
    if (name.widest != null) {
      Binding unused = read.variant(binding, name.widest);
    }
    if (name.longest != null && areBuckets(name.inForce, name.longest)) {
      Binding unused = read.variant(binding, name.longest);
    }
  }

  private static boolean areBuckets(Policy one, Policy other) {
    return one.algorithm() == Algorithm.TOKEN_BUCKET && other.algorithm() == Algorithm.TOKEN_BUCKET;
  }

  /** Returns the histories of all bindings. */
  Stream<PolicyHistory> shown() {
    return names.values().stream().map(each -> each.shown);
  }

  /** Fills in the results of a request for which no counts are there. */
  static void answer(Charges charges, long nowNanos) {
    for (int i = 0; i < charges.size(); i++) {
      boolean valid = charges.permits(i) >= 0;
      charges.result(
          i,
          valid ? Reason.UNCERTAIN : Reason.INVALID,
          0,
          valid ? RETRY_NANOS : Decision.NEVER,
          0,
          nowNanos);
      charges.cause(i, valid ? UncertainCause.COUNTS : "");
    }
    boolean unused = charges.settle();
  }
}
