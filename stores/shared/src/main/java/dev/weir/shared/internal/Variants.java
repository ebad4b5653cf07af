package dev.weir.shared.internal;

import dev.weir.Policy;
import dev.weir.shared.Clocks;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.SharedBinding.Terms;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What this process decides by itself of the keys of one name: under the policy in force, and under
 * its variants. Safe for use by many threads.
 */
public final class Variants {
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
  public static final int MOST_HELD = 256;

  /** For how long an authority is kept for a variant that was asked for but is not used. */
  public static final long KEPT_NANOS = 10_000_000_000L;

  /**
   * @param binding the last that asked for the authority
   */
  private record Held(SharedBinding binding, LocalAuthority authority, long askedForAtNanos) {
    void tick() {
      authority.tick(binding);
    }

    void close() {
      authority.close(binding);
    }
  }

  private final Terms terms;
  private final @Nullable LocalAuthority inForce;
  private final Clocks clocks;
  private final Function<Policy, @Nullable LocalAuthority> authorities;
  private final Map<Terms, Held> held = new ConcurrentHashMap<>();
  private boolean closed;

  /**
   * @param policy the one in force
   * @param inForce its authority
   * @param authorities makes one for a policy
   */
  public Variants(
      Policy policy,
      @Nullable LocalAuthority inForce,
      Clocks clocks,
      Function<Policy, @Nullable LocalAuthority> authorities) {
    terms = Terms.of(policy);
    this.inForce = inForce;
    this.clocks = clocks;
    this.authorities = authorities;
  }

  /**
   * Returns the authority of a variant, the same for the same numbers until it is dropped as idle;
   * null if the store decides each time.
   */
  public synchronized @Nullable LocalAuthority of(SharedBinding variant) {
    if (closed) {
      return null;
    }
    Terms asked = Terms.of(variant.policy());
    if (asked.equals(terms)) {
      return inForce;
    }
    Held known = held.get(asked);
    if (known == null && held.size() == MOST_HELD) {
      dropIdle();
    }
    LocalAuthority authority;
    if (known != null) {
      authority = known.authority;
    } else {
      authority = held.size() == MOST_HELD ? null : authorities.apply(variant.policy());
    }
    if (authority != null) {
      held.put(asked, new Held(variant, authority, clocks.nanos()));
    }
    return authority;
  }

  /** Makes room. A binding whose authority is dropped asks for another one when it is used. */
  private void dropIdle() {
    long now = clocks.nanos();
    held.values()
        .removeIf(
            each -> {
              if (now - each.askedForAtNanos < KEPT_NANOS) {
                return false;
              }
              each.tick();
              if (!each.authority.idle()) {
                return false;
              }
              each.close(); // A request that comes meanwhile may hold something by now.
              return true;
            });
  }

  /** Does what is due for the variants. */
  public void tick() {
    held.values().forEach(Held::tick);
  }

  /** Returns whether nothing is held for any of them. */
  public boolean idle() {
    for (Held each : held.values()) {
      if (!each.authority.idle()) {
        return false;
      }
    }
    return true;
  }

  /** Drops what is remembered of a key's refusals, whatever its number: permits come back to it. */
  public void forgetRefusal(long fingerprint) {
    if (inForce != null) {
      inForce.forgetRefusal(fingerprint);
    }
    held.values().forEach(each -> each.authority.forgetRefusal(fingerprint));
  }

  /** Drops all that is known of a key: the store forgets it. */
  public void reset(long fingerprint) {
    if (inForce != null) {
      inForce.reset(fingerprint);
    }
    held.values().forEach(each -> each.authority.reset(fingerprint));
  }

  /** Gives back what the variants hold; from then on the store is asked each time. */
  public synchronized void close() {
    closed = true;
    held.values().forEach(Held::close);
    held.clear();
  }
}
