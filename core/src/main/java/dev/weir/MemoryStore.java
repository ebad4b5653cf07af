package dev.weir;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * State in this process. Decides on the caller's thread, in time order for each key, and never
 * blocks but for the locks of the keys in question.
 *
 * <p>Requests over several limits lock all of their keys' stripes in one fixed order, check
 * everything, and charge everything or nothing: nobody ever sees half a request.
 */
public final class MemoryStore implements Store {
  /** The keys a store holds where nobody says otherwise: about 1 GiB of small states. */
  public static final long DEFAULT_MAX_KEYS = 1L << 22;

  /** Keys looked at before a new one is denied for want of room: bounds what a flood can cost. */
  private static final int FORGET_WHEN_FULL = 64;

  private record MemoryLimit(MemoryStore store, Lineage lineage, Policy policy) implements Limit {
    @Override
    public String name() {
      return lineage.name();
    }
  }

  private final ConcurrentHashMap<String, Lineage> lineages = new ConcurrentHashMap<>();
  private final Budget budget;

  public MemoryStore() {
    this(DEFAULT_MAX_KEYS);
  }

  /**
   * @param maxKeys how many keys may have state at once; one more is denied with {@link
   *     Reason#KEY_SPACE_FULL}, and none is ever forgotten for it
   */
  public MemoryStore(long maxKeys) {
    budget = new Budget(Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE / 2));
  }

  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    Lineage lineage =
        lineages.compute(
            name,
            (key, known) -> {
              Lineage kept = known == null ? new Lineage(key, budget) : known;
              kept.inForce(policy, clamp(nowNanos));
              return kept;
            });
    return new MemoryLimit(this, lineage, policy);
  }

  @Override
  public void retire(String name, long nowNanos) {
    lineages.computeIfPresent(
        name,
        (key, lineage) -> {
          lineage.retire(clamp(nowNanos));
          return lineage;
        });
  }

  /**
   * Returns the lineage that counts for a name, with a table for a policy that has left it: a
   * request began before the policy went. The lineage itself may have been forgotten since, and
   * another have come; two of one name would each admit the whole quota.
   */
  Lineage reopened(Lineage lineage, Policy policy, long now) {
    return lineages.compute(
        lineage.name(),
        (key, known) -> {
          Lineage kept = known == null ? lineage : known;
          kept.reopen(policy, now);
          return kept;
        });
  }

  @Override
  public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
    decide(charges, clamp(nowNanos));
    done.accept(charges);
  }

  /**
   * As {@link #decide(Charges, long, Consumer)}, for callers that know this store is synchronous.
   */
  void decide(Charges charges, long now) {
    Held[] held = new Held[charges.size()];
    for (int i = 0; i < held.length; i++) {
      held[i] = hold(charges.limit(i), charges.fingerprint(i), charges.permits(i));
    }
    Stripe[] locked = lock(held, now);
    try {
      settle(charges, held, now);
    } finally {
      unlock(locked);
    }
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Charges charges = new Charges();
    for (int i = 0; i < batch.size(); i++) {
      charges.clear().add(batch.limit(i), batch.fingerprint(i), batch.permits(i));
      decide(charges, clamp(nowNanos));
      batch.decision(i, packed(charges));
    }
    done.accept(batch);
  }

  /**
   * Decides one charge.
   *
   * @param permits at least 0
   * @return the decision, to be read by {@link PackedDecision}
   * @throws IllegalArgumentException if the limit is not this store's or the permits are negative
   */
  public long decide(Limit limit, long fingerprint, long permits, long nowNanos) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    Charges charges = new Charges().add(limit, fingerprint, permits);
    decide(charges, clamp(nowNanos));
    return packed(charges);
  }

  private static long packed(Charges charges) {
    return charges.allowed()
        ? charges.remaining(0)
        : charges.reason(0) == Reason.KEY_SPACE_FULL
            ? PackedDecision.KEY_SPACE_FULL
            : PackedDecision.refused(charges.retryAfterNanos(0));
  }

  private Held hold(Limit limit, long fingerprint, long permits) {
    if (limit instanceof MemoryLimit memory && memory.store == this) {
      return new Held(this, memory.lineage, memory.policy, fingerprint, permits);
    }
    throw new IllegalArgumentException("limit: " + limit + " (expected: one of this store)");
  }

  /**
   * Locks every stripe in question, in their order, and makes sure that they are still the ones.
   */
  private static Stripe[] lock(Held[] held, long now) {
    while (true) {
      int count = 0;
      for (Held each : held) {
        each.aim(now);
        count += each.stripes();
      }
      Stripe[] stripes = new Stripe[count];
      for (Held each : held) {
        for (int i = 0; i < each.stripes(); i++) {
          stripes[--count] = each.stripe(i);
        }
      }
      if (stripes.length > 1) {
        Arrays.sort(stripes, Comparator.comparingLong(stripe -> stripe.order));
      }
      for (Stripe stripe : stripes) {
        stripe.lock(); // Reentrant: the same stripe twice is locked twice, and unlocked twice.
      }
      boolean current = true;
      for (Held each : held) {
        current &= each.current();
      }
      if (current) {
        return stripes;
      }
      unlock(stripes);
    }
  }

  private static void unlock(Stripe[] stripes) {
    for (Stripe stripe : stripes) {
      stripe.unlock();
    }
  }

  private void settle(Charges charges, Held[] held, long now) {
    boolean allowed = check(charges, held, now);
    if (allowed && !charges.peeking()) {
      allowed = charge(charges, held, now);
    }
    charges.allowed(allowed);
  }

  /** Finds each charge's verdict and with them the whole's; changes nothing. */
  private static boolean check(Charges charges, Held[] held, long now) {
    boolean required = true;
    boolean anyAsked = false;
    boolean anyFits = false;
    for (int i = 0; i < held.length; i++) {
      boolean fits = check(charges, held, i, now);
      switch (charges.role(i)) {
        case REQUIRED -> required &= fits;
        case ANY -> {
          anyAsked = true;
          anyFits |= fits;
        }
        case OPTIONAL -> required &= charges.reason(i) != Reason.INVALID;
      }
    }
    return required && (anyFits || !anyAsked);
  }

  private static boolean check(Charges charges, Held[] held, int i, long now) {
    Held key = held[i];
    key.look(now);
    long also = 0;
    for (int j = 0; j < i; j++) {
      if (held[j].sameKey(key) && charges.fits(j)) {
        also += held[j].permits;
      }
    }
    long at = key.effectiveNanos;
    if (key.permits < 0) {
      charges.result(i, Reason.INVALID, key.remaining(), Decision.NEVER, key.resetNanos(at), at);
      return false;
    }
    long wait = key.permits == 0 ? 0 : charges.queued() ? key.queueNanos() : key.waitNanos(also);
    boolean fits = wait <= charges.maxWaitNanos();
    if (!fits && wait == Decision.NEVER && charges.queued()) {
      wait = key.waitNanos(also); // The queue is full: say when it will have room.
    }
    // A clock that is behind the state's has further to go.
    long retry = fits ? wait : later(wait, at - now);
    charges.result(
        i,
        fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT,
        Math.max(0, key.remaining() - also),
        retry,
        key.resetNanos(at),
        at);
    return fits;
  }

  /** Returns the sum, which a clock that is centuries behind makes overflow. */
  private static long later(long wait, long behind) {
    return behind < 0 || wait > Decision.NEVER - behind ? Decision.NEVER : wait + behind;
  }

  /** Charges what fits; nothing at all if there is no room for the keys that are new. */
  private boolean charge(Charges charges, Held[] held, long now) {
    int newSlots = newSlots(charges, held);
    if (!room(held, newSlots, now)) {
      refuseNew(charges, held, Charges.Role.OPTIONAL); // A shadow never refuses.
      newSlots = newSlots(charges, held);
      if (!room(held, newSlots, now)) {
        refuseNew(charges, held, Charges.Role.ANY);
        newSlots = newSlots(charges, held);
        if (!room(held, newSlots, now)) {
          refuseNew(charges, held, Charges.Role.REQUIRED);
          return false;
        }
        if (!anyFits(charges)) {
          budget.giveBack(newSlots);
          return false;
        }
      }
    }
    int added = 0;
    for (int i = 0; i < held.length; i++) {
      Held key = held[i];
      if (charges.fits(i) && key.permits > 0) {
        long wait = charges.retryAfterNanos(i);
        added += key.charge(wait, now);
        long at = key.effectiveNanos + wait;
        charges.result(i, Reason.WITHIN_LIMIT, key.remaining(), wait, key.resetNanos(at), at);
      }
    }
    budget.giveBack(newSlots - added); // A key that is asked for twice takes one slot.
    return true;
  }

  private static int newSlots(Charges charges, Held[] held) {
    int count = 0;
    for (int i = 0; i < held.length; i++) {
      count += charges.fits(i) && held[i].permits > 0 ? held[i].newSlots() : 0;
    }
    return count;
  }

  /** Refuses the charges of that role whose keys are new, for want of room. */
  private static void refuseNew(Charges charges, Held[] held, Charges.Role role) {
    for (int i = 0; i < held.length; i++) {
      if (charges.role(i) == role
          && charges.fits(i)
          && held[i].permits > 0
          && held[i].newSlots() > 0) {
        long retry = charges.limit(i).policy().quota().windowNanos();
        charges.result(i, Reason.KEY_SPACE_FULL, 0, retry, 0, held[i].effectiveNanos);
      }
    }
  }

  /** Returns whether one charge of those of which one must fit does. */
  private static boolean anyFits(Charges charges) {
    boolean asked = false;
    for (int i = 0; i < charges.size(); i++) {
      asked |= charges.role(i) == Charges.Role.ANY;
      if (charges.role(i) == Charges.Role.ANY && charges.fits(i)) {
        return true;
      }
    }
    return !asked;
  }

  /**
   * Takes room for new keys, if need be by forgetting rested ones of the stripes that are locked.
   */
  private boolean room(Held[] held, int newSlots, long now) {
    if (newSlots == 0 || budget.take(newSlots)) {
      return true;
    }
    for (Held key : held) {
      for (int i = 0; i < key.stripes(); i++) {
        key.stripe(i).forget(now, FORGET_WHEN_FULL);
      }
    }
    return budget.take(newSlots);
  }

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    long now = clamp(nowNanos);
    Held[] held = {hold(limit, fingerprint, permits)};
    Stripe[] locked = lock(held, now);
    long given;
    try {
      given = held[0].refund(charged, now);
    } finally {
      unlock(locked);
    }
    done.accept(given);
  }

  @Override
  public void expire(long nowNanos) {
    long now = clamp(nowNanos);
    Iterator<String> names = lineages.keySet().iterator();
    while (names.hasNext()) {
      lineages.computeIfPresent(names.next(), (n, lineage) -> lineage.expire(now) ? null : lineage);
    }
  }

  @Override
  public long keys() {
    return budget.keys();
  }

  @Override
  public long bytes() {
    return 8 * budget.words();
  }

  @Override
  public void close() {}

  private static long clamp(long nanos) {
    return Math.max(-Meter.HORIZON_NANOS, Math.min(Meter.HORIZON_NANOS, nanos));
  }
}
