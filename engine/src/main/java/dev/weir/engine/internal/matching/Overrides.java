package dev.weir.engine.internal.matching;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RuleDefaults;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The limits that requests bring along.
 *
 * <p>A descriptor has one counter for each window, whatever numbers requests give: a caller that
 * changes the number keeps its use. Overrides are therefore always counted in buckets, whose state
 * means the same under every limit.
 */
public final class Overrides {
  /** The most limits that are remembered. Any more are made anew, which costs only time. */
  private static final int MAX_REMEMBERED = 1024;

  /**
   * The most windows of several units, of all domains. Each takes tables in the store, and requests
   * choose them.
   */
  static final int MAX_WINDOWS = 256;

  private record Key(String domain, LimitOverride limit, RuleDefaults defaults) {}

  private final RoutedStore store;
  private final ConcurrentHashMap<Key, Binding> remembered = new ConcurrentHashMap<>();

  /** The names of windows of several units. */
  private final Set<String> windows = ConcurrentHashMap.newKeySet();

  public Overrides(RoutedStore store) {
    this.store = store;
  }

  /**
   * Returns the binding that counts for an override; null if requests have brought too many
   * different windows already.
   *
   * @param defaults determine the answer while the store cannot decide, since no rule does
   */
  @Nullable Binding binding(
      String domain, LimitOverride override, RuleDefaults defaults, long nowNanos) {
    Key key = new Key(domain, override, defaults);
    Binding known = remembered.get(key);
    if (known != null) {
      return known;
    }
    if (override.unitMultiplier() > 1 && !hasRoom(name(domain, override))) {
      return null;
    }
    if (remembered.size() >= MAX_REMEMBERED) {
      remembered.clear();
    }
    return remembered.computeIfAbsent(key, made -> make(made, nowNanos));
  }

  /** Returns whether the store that counts for a binding decides on the caller's thread. */
  boolean isLocal(Binding binding) {
    return store.decidesHere(binding);
  }

  private synchronized boolean hasRoom(String window) {
    return windows.contains(window) || (windows.size() < MAX_WINDOWS && windows.add(window));
  }

  private static String name(String domain, LimitOverride override) {
    long units = override.unitMultiplier();
    return "override " + (units == 1 ? "" : units + " ") + override.unit() + " " + domain;
  }

  private Binding make(Key key, long nowNanos) {
    String domain = key.domain;
    LimitOverride override = key.limit;
    Policy policy =
        Policy.builder(new Quota(override.requestsPerUnit(), override.windowNanos()))
            .name(domain + " override")
            .algorithm(Algorithm.SLIDING_WINDOW_BUCKETS)
            .sharing(
                Sharing.STRICT
                    .onFailure(key.defaults.onFailure())
                    .localShare(key.defaults.localShare()))
            .build();
    return store.bind(name(domain, override), policy, nowNanos);
  }
}
