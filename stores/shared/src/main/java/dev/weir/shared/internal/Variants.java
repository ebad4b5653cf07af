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
 * The permits and refusals that this process holds for the keys of one name: under the policy in
 * force, and under its variants. Safe for use by many threads.
 */
public final class Variants {
  /*
   * Why does each variant have an authority of its own? If a key is requested under two policies,
   * one authority would grant under one policy the permits allotted under the other, or repeat its
   * refusals. With two authorities this process acts like two processes that share the store:
   * whatever they hold was charged there, so they guarantee together what two processes do. A key
   * changes its policy rarely, and permits that are left under the earlier one are given back when
   * its allotment ends.
   */

  /**
   * The most variants with an authority, each of which is checked several times a second. The store
   * decides each request of the others.
   */
  public static final int MOST_HELD = 256;

  /** The number of authorities above which idle ones are dropped: a name may be one of many. */
  private static final int MANY = 16;

  /** The time for which an authority is kept for a variant that was bound but is not used. */
  public static final long KEPT_NANOS = 10_000_000_000L;

  /**
   * A variant's authority.
   *
   * @param binding the last one that requested the authority
   */
  private record HeldAuthority(
      SharedBinding binding, LocalAuthority authority, long askedForAtNanos) {
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
  private final Map<Terms, HeldAuthority> held = new ConcurrentHashMap<>();
  private boolean closed;

  /**
   * Creates the variants of a policy.
   *
   * @param policy the one in force
   * @param inForce its authority
   * @param authorities makes an authority for a policy
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
   * null if the store decides each request.
   */
  public synchronized @Nullable LocalAuthority of(SharedBinding variant) {
    if (closed) {
      return null;
    }
    Terms asked = Terms.of(variant.policy());
    if (asked.equals(terms)) {
      return inForce;
    }
    HeldAuthority known = held.get(asked);
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
      held.put(asked, new HeldAuthority(variant, authority, clocks.nanos()));
    }
    return authority;
  }

  /**
   * Makes room by dropping idle authorities; a binding whose authority is dropped gets another one
   * when it is used.
   */
  private synchronized void dropIdle() {
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
              each.close(); // A request in between may hold permits by now.
              return true;
            });
  }

  /** Does the due work of the variants, and drops those that are idle if there are many. */
  public void tick() {
    if (held.size() > MANY) {
      dropIdle();
    }
    held.values().forEach(HeldAuthority::tick);
  }

  /** Returns true if none of them holds anything. */
  public boolean idle() {
    for (HeldAuthority each : held.values()) {
      if (!each.authority.idle()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Drops the remembered refusals of a key, whatever its number, since permits are given back to
   * it.
   */
  public void forgetRefusal(long fingerprint) {
    if (inForce != null) {
      inForce.forgetRefusal(fingerprint);
    }
    held.values().forEach(each -> each.authority.forgetRefusal(fingerprint));
  }

  /** Drops everything held of a key, since the store resets it. */
  public void reset(long fingerprint) {
    if (inForce != null) {
      inForce.reset(fingerprint);
    }
    held.values().forEach(each -> each.authority.reset(fingerprint));
  }

  /** Gives back the permits that the variants hold; from then on the store decides each request. */
  public synchronized void close() {
    closed = true;
    held.values().forEach(HeldAuthority::close);
    held.clear();
  }
}
