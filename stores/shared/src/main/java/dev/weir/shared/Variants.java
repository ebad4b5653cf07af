package dev.weir.shared;

import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Sharing;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What this process decides by itself of the keys of one name: under the policy in force, and under
 * its variants. Safe for use by many threads.
 */
final class Variants {
  /*
   * Why does each variant have an authority of its own? A key that is asked for under two policies
   * would otherwise be granted by one what was allotted, or refused, under the other. With two
   * authorities this process is as two processes that share the store: whatever they hold was
   * charged there, so they promise together what two processes do. A key changes its policy rarely,
   * and what is left under the earlier one is given back when its allotment ends.
   */

  /**
   * Variants with an authority: each is looked after several times a second. The others have the
   * store decide each time.
   */
  static final int MOST_HELD = 256;

  private record Numbers(Quota quota, long burst, Sharing sharing) {}

  private final Policy policy;
  private final @Nullable LocalAuthority inForce;
  private final Function<Policy, @Nullable LocalAuthority> authorities;
  private final Map<Numbers, SharedBinding> held = new ConcurrentHashMap<>();
  private boolean closed;

  /**
   * @param policy the one in force
   * @param inForce its authority
   * @param authorities makes one for a policy
   */
  Variants(
      Policy policy,
      @Nullable LocalAuthority inForce,
      Function<Policy, @Nullable LocalAuthority> authorities) {
    this.policy = policy;
    this.inForce = inForce;
    this.authorities = authorities;
  }

  /**
   * Returns the authority of a variant, the same for the same numbers; null if the store decides
   * each time.
   */
  synchronized @Nullable LocalAuthority of(SharedBinding variant) {
    Policy other = variant.policy();
    if (SharedBinding.sameAuthority(policy, other)) {
      return inForce;
    }
    Numbers numbers = new Numbers(other.quota(), other.burst(), other.sharing());
    SharedBinding known = held.get(numbers);
    if (known != null) {
      return known.authority;
    }
    LocalAuthority made = closed || held.size() == MOST_HELD ? null : authorities.apply(other);
    if (made != null) {
      held.put(numbers, variant.with(made));
    }
    return made;
  }

  /** Does what is due for the variants. */
  void tick() {
    held.values().forEach(each -> authority(each).tick(each));
  }

  /** Drops all that is known of a key: the store forgets it. */
  void reset(long fingerprint) {
    if (inForce != null) {
      inForce.reset(fingerprint);
    }
    held.values().forEach(each -> authority(each).reset(fingerprint));
  }

  /** Gives back what the variants hold; from then on the store is asked each time. */
  synchronized void close() {
    closed = true;
    held.values().forEach(each -> authority(each).close(each));
    held.clear();
  }

  private static LocalAuthority authority(SharedBinding binding) {
    return Objects.requireNonNull(binding.authority);
  }
}
