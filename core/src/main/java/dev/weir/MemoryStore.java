package dev.weir;

import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * State in this process, in compact tables. Decides on the caller's thread, in time order for each
 * key. Nothing is allocated for a decision, save where a key's state is new or grows, and while a
 * change of rules is remembered.
 */
public final class MemoryStore implements Store {
  /*
   * Two ways lead to a decision. A request of one charge, which is nearly all of them, reads its
   * key's slot under an optimistic stamp: a refusal needs no lock at all, so a key that is refused
   * all the time does not keep processors from each other, and an admission turns the stamp into
   * the segment's lock if nobody wrote there meanwhile. Requests over several limits, and whatever
   * is rare (a rule changes, no room, somebody waits), lock all of their keys' segments in one
   * order, check everything, and charge everything or nothing: nobody ever sees half a request.
   */

  /** The keys a store holds where nobody says otherwise: about 100 MiB of small states. */
  public static final long DEFAULT_MAX_KEYS = 1L << 22;

  /** Slots looked at before a new key is denied for want of room: bounds what a flood can cost. */
  static final int FORGET_WHEN_FULL = 64;

  /** How often a decision is tried without waiting for the lock. */
  private static final int OPTIMISTIC_TRIES = 2;

  /** Not a decision: the request has to go the other way. */
  private static final long UNDECIDED = Long.MIN_VALUE + 1;

  private static final Charges.Role[] ROLES = Charges.Role.values();

  private final ConcurrentHashMap<String, Lineage> lineages = new ConcurrentHashMap<>();
  private final Fingerprint fingerprint = Fingerprint.random();
  private final Budget budget;
  private final ThreadLocal<Charges> spare = ThreadLocal.withInitial(Charges::new);

  public MemoryStore() {
    this(DEFAULT_MAX_KEYS);
  }

  /**
   * @param maxKeys how many keys may have state at once; what becomes of one more, its policy says,
   *     and none is ever forgotten for it
   */
  public MemoryStore(long maxKeys) {
    this(maxKeys, defaultMaxBytes());
  }

  /**
   * @param maxBytes how many bytes all states together may take, at least 1
   */
  public MemoryStore(long maxKeys, long maxBytes) {
    Check.range("maxKeys", maxKeys, 1, Long.MAX_VALUE / 2);
    Check.range("maxBytes", maxBytes, 1, Long.MAX_VALUE / 2);
    budget = new Budget(maxKeys, maxBytes);
  }

  /** Returns fingerprints under a seed of this store's own. */
  @Override
  public Fingerprint fingerprint() {
    return fingerprint;
  }

  /** Returns the bytes that states may take where nobody says otherwise: half of the heap. */
  public static long defaultMaxBytes() {
    return Runtime.getRuntime().maxMemory() / 2;
  }

  @Override
  public Limit limit(String name, Policy policy, long nowNanos) {
    Check.notNull("name", name);
    Check.notNull("policy", policy);
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

  /**
   * Returns a limit on the same keys under another bucket: what a key has used is the time that its
   * bucket takes to refill, and stays that. For callers who bring the bucket along with every
   * request; the promise of {@link #limit} about changes of a policy is not made for them.
   *
   * @param limit a token bucket of this store
   * @param policy another token bucket
   * @throws IllegalArgumentException if either is something else
   */
  public Limit variant(Limit limit, Policy policy) {
    Check.notNull("policy", policy);
    MemoryLimit kept = own(limit);
    if (kept.policy().algorithm() != Algorithm.TOKEN_BUCKET
        || policy.algorithm() != Algorithm.TOKEN_BUCKET) {
      throw new IllegalArgumentException(
          "algorithm: " + policy.algorithm() + " (expected: two token buckets)");
    }
    return kept.variant(policy);
  }

  /** Forgets what a key has used, rested or not; returns whether there was anything. */
  public boolean forget(Limit limit, long fingerprint, long nowNanos) {
    Charges charges = spare.get().clear();
    Held[] held = charges.add(limit, fingerprint, 0).held();
    held[0].hold(own(limit), fingerprint, 0);
    lock(charges.locks, held, 1, clamp(nowNanos));
    try {
      return held[0].forget();
    } finally {
      charges.locks.unlock();
      held[0].release();
      charges.clear();
    }
  }

  @Override
  public void retire(String name, long nowNanos) {
    lineages.computeIfPresent(
        Check.notNull("name", name),
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
    Check.notNull("done", done);
    decide(Check.notNull("charges", charges), clamp(nowNanos));
    done.accept(charges);
  }

  /**
   * As {@link #decide(Charges, long, Consumer)}, for callers that know this store is synchronous.
   */
  void decide(Charges charges, long now) {
    if (charges.size() == 1 && !charges.queued() && charges.permits(0) >= 0) {
      MemoryLimit limit = own(charges.limit(0));
      long permits = charges.peeking() ? -charges.permits(0) : charges.permits(0);
      long packed = decideOne(limit, charges.fingerprint(0), permits, now, charges, 0, null, 0);
      if (packed != UNDECIDED) {
        charges.allowed(packed >= 0 || charges.role(0) == Charges.Role.OPTIONAL);
        return;
      }
    }
    decideAll(charges, now);
  }

  @Override
  public void expect(Charges charges) {
    Check.notNull("charges", charges);
    for (int i = 0; i < charges.size(); i++) {
      Table table = own(charges.limit(i)).aim().only;
      if (table != null) {
        long fingerprint = nonZero(charges.fingerprint(i));
        charges.read(table.segment(fingerprint).touch(fingerprint));
      }
    }
  }

  @Override
  public void decide(Batch batch, long nowNanos, Consumer<? super Batch> done) {
    Check.notNull("batch", batch);
    Check.notNull("done", done);
    long now = clamp(nowNanos);
    int size = batch.size();
    // All slots are read before the first is locked: so the memory is waited for only once.
    batch.read(touch(batch, size));
    for (int i = 0; i < size; i++) {
      Segment segment = batch.segment(i);
      if (segment != null) {
        batch.found(i, segment.find(nonZero(batch.fingerprint(i))));
      }
    }
    for (int i = 0; i < size; i++) {
      MemoryLimit limit = own(batch.limit(i));
      batch.decision(i, decide(limit, batch.fingerprint(i), batch.permits(i), now, batch, i));
    }
    done.accept(batch);
  }

  /** Reads the memory where the keys' slots are; nothing here waits for what it reads. */
  private long touch(Batch batch, int size) {
    Limit limit = null;
    Table table = null;
    long read = 0;
    for (int i = 0; i < size; i++) {
      if (batch.limit(i) != limit) {
        limit = batch.limit(i);
        table = own(limit).aim().only;
      }
      if (table != null) {
        long fingerprint = nonZero(batch.fingerprint(i));
        Segment segment = table.segment(fingerprint);
        batch.segment(i, segment);
        read ^= segment.touch(fingerprint);
      }
    }
    return read;
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
    return decide(own(limit), fingerprint, permits, clamp(nowNanos), null, 0);
  }

  private long decide(
      MemoryLimit limit, long fingerprint, long permits, long now, @Nullable Batch batch, int i) {
    Segment segment = batch == null ? null : batch.segment(i);
    int slot = batch == null || segment == null ? 0 : batch.slot(i);
    Batch results = batch != null && batch.isDetailed() ? batch : null;
    long packed = decideOne(limit, fingerprint, permits, now, results, i, segment, slot);
    if (packed != UNDECIDED) {
      return packed;
    }
    Charges charges = spare.get().clear().add(limit, fingerprint, permits);
    decideAll(charges, now);
    packed = packed(charges);
    if (results != null) {
      charges.copyTo(results, i);
    }
    charges.clear();
    return packed;
  }

  private static long packed(Charges charges) {
    return PackedDecision.of(charges.reason(0), charges.remaining(0), charges.retryAfterNanos(0));
  }

  /**
   * Decides one charge if nothing out of the ordinary is in the way.
   *
   * @param permitsOrLook minus them for who only looks
   * @param results to be given the result as number {@code i}, or null
   * @param lookedIn the segment where the key was when it was looked up beforehand, or null
   * @param found what {@link Segment#find} returned there
   * @return the decision, packed, or {@link #UNDECIDED}
   */
  private long decideOne(
      MemoryLimit limit,
      long fingerprintOrZero,
      long permitsOrLook,
      long now,
      @Nullable Results results,
      int i,
      @Nullable Segment lookedIn,
      int found) {
    long fingerprint = nonZero(fingerprintOrZero);
    long permits = Math.min(Math.abs(permitsOrLook), Meter.MOST_PERMITS);
    Policy policy = limit.policy();
    MemoryLimit.Aim aim = limit.aim();
    Table table = aim.only;
    if (table == null) {
      return UNDECIDED;
    }
    Meter meter = table.meter;
    boolean charging = permitsOrLook > 0;
    for (int tries = 0; ; tries++) {
      Segment segment = table.segment(fingerprint);
      int hint = tries == 0 && segment == lookedIn ? found : 0;
      long stamp = tries < OPTIMISTIC_TRIES ? segment.tryOptimisticRead() : 0;
      boolean locked = stamp == 0;
      if (locked) {
        stamp = segment.writeLock();
      }
      boolean grown = false;
      try {
        int slot = segment.find(fingerprint, hint);
        boolean known = slot > 0;
        long[] state = known ? segment.glimpse(slot) : table.fresh;
        if (state == null) {
          continue;
        }
        int at = known ? segment.stateAt(slot) : 0;
        long then = known ? now : Math.max(now, segment.floorNanos());
        long effective = meter.effectiveNanos(state, at, then);
        long wait = meter.waitNanos(state, at, effective, permits, policy);
        boolean fits = wait == 0;
        if (!fits || !charging) {
          long remaining =
              results == null && !fits ? 0 : remaining(meter, state, at, effective, policy);
          if (results != null) {
            long retry = fits ? 0 : later(wait, effective - now);
            long reset = Math.max(effective, meter.restedAtNanos(state, at)) - effective;
            Reason reason = fits ? Reason.WITHIN_LIMIT : Reason.OVER_LIMIT;
            results.result(i, reason, remaining, retry, reset, effective);
          }
          if (!segment.validate(stamp) || segment.isSplit()) {
            continue;
          }
          if (!known && table.sketching()) {
            return UNDECIDED;
          }
          return fits ? remaining : PackedDecision.refused(later(wait, effective - now));
        }
        if (!locked) {
          long write = segment.tryConvertToWriteLock(stamp);
          if (write == 0) {
            continue;
          }
          stamp = write;
          locked = true;
        }
        if (segment.isSplit()) {
          continue;
        }
        if (!limit.current(aim)) {
          return UNDECIDED;
        }
        if (!known) {
          if (table.sketching() || !table.budget.take(1, segment.bytesToAdd())) {
            return UNDECIDED;
          }
          slot = segment.add(fingerprint, table.fresh, 0, now);
          state = segment.state(slot);
          at = segment.stateAt(slot);
          grown = segment.isLarge();
        }
        boolean mayGrow = meter.words() > 0 || table.budget.mayGrow();
        long[] after = meter.charge(state, at, effective, 0, permits, policy, mayGrow);
        segment.state(slot, after);
        segment.latestNanos(now);
        long remaining = remaining(meter, after, at, effective, policy);
        if (results != null) {
          long reset = Math.max(effective, meter.restedAtNanos(after, at)) - effective;
          results.result(i, Reason.WITHIN_LIMIT, remaining, 0, reset, effective);
        }
        return remaining;
      } finally {
        if (locked) {
          segment.unlockWrite(stamp);
        }
        if (grown) {
          segment.splitIfLarge();
        }
      }
    }
  }

  private static long remaining(Meter meter, long[] state, int at, long effective, Policy policy) {
    return Math.min(policy.burst(), meter.remaining(state, at, effective, policy));
  }

  /** Decides a request in every other case. */
  private void decideAll(Charges charges, long now) {
    Held[] held = charges.held();
    int size = charges.size();
    for (int i = 0; i < size; i++) {
      held[i].hold(own(charges.limit(i)), charges.fingerprint(i), charges.permits(i));
    }
    lock(charges.locks, held, size, now);
    try {
      boolean allowed = check(charges, held, now);
      if (allowed && !charges.peeking()) {
        allowed = charge(charges, held, now);
      }
      charges.allowed(allowed);
    } finally {
      charges.locks.unlock();
    }
    for (int i = 0; i < size; i++) {
      held[i].release();
    }
  }

  /** Returns whether a limit is one of this store's. */
  public boolean owns(Limit limit) {
    return limit instanceof MemoryLimit memory && memory.store == this;
  }

  private MemoryLimit own(Limit limit) {
    if (limit instanceof MemoryLimit memory && memory.store == this) {
      return memory;
    }
    throw new IllegalArgumentException("limit: " + limit + " (expected: one of this store)");
  }

  /** Zero marks a free slot; sharing a limit with the key beside it can only deny. */
  static long nonZero(long fingerprint) {
    return fingerprint == 0 ? 1 : fingerprint;
  }

  /** Locks every segment in question, and makes sure that they are still the ones. */
  private static void lock(Locks locks, Held[] held, int size, long now) {
    while (true) {
      for (int i = 0; i < size; i++) {
        held[i].aim(now);
        held[i].addTo(locks);
      }
      boolean current = locks.lock();
      for (int i = 0; i < size; i++) {
        current &= held[i].current();
      }
      if (current) {
        return;
      }
      locks.unlock();
    }
  }

  /** Finds each charge's verdict and with them the whole's; changes nothing. */
  private static boolean check(Charges charges, Held[] held, long now) {
    boolean required = true;
    boolean anyAsked = false;
    boolean anyFits = false;
    for (int i = 0; i < charges.size(); i++) {
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

  /** Charges what fits; nothing at all if a key that must be charged is new and has no room. */
  private static boolean charge(Charges charges, Held[] held, long now) {
    boolean room = true;
    for (Charges.Role role : ROLES) { // A shadow never takes the room of what must fit.
      for (int i = 0; i < charges.size(); i++) {
        Held key = held[i];
        if (charges.role(i) == role && charges.fits(i) && key.permits > 0 && !key.takeRoom(now)) {
          long retry = charges.limit(i).policy().quota().windowNanos();
          charges.result(i, Reason.KEY_SPACE_FULL, 0, retry, 0, key.effectiveNanos);
          room &= role != Charges.Role.REQUIRED;
        }
      }
    }
    if (!room || !anyFits(charges)) {
      for (int i = 0; i < charges.size(); i++) {
        held[i].giveRoomBack();
      }
      return false;
    }
    for (int i = 0; i < charges.size(); i++) {
      Held key = held[i];
      if (charges.fits(i) && key.permits > 0) {
        long wait = charges.retryAfterNanos(i);
        key.charge(wait, now);
        long at = key.effectiveNanos + wait;
        long told = wait == 0 ? 0 : later(wait, key.effectiveNanos - now);
        charges.result(i, Reason.WITHIN_LIMIT, key.remaining(), told, key.resetNanos(at), at);
      }
    }
    return true;
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

  @Override
  public void refund(
      Limit limit,
      long fingerprint,
      long permits,
      Decision charged,
      long nowNanos,
      LongConsumer done) {
    Check.range("permits", permits, 0, Long.MAX_VALUE);
    Check.notNull("charged", charged);
    Check.notNull("done", done);
    long now = clamp(nowNanos);
    Charges charges = spare.get().clear().add(limit, fingerprint, permits);
    Held[] held = charges.held();
    held[0].hold(own(limit), fingerprint, permits);
    lock(charges.locks, held, 1, now);
    long given;
    try {
      given = held[0].refund(charged, now);
    } finally {
      charges.locks.unlock();
    }
    held[0].release();
    charges.clear();
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
  public long maxKeys() {
    return budget.maxKeys();
  }

  @Override
  public long maxBytes() {
    return budget.maxBytes();
  }

  @Override
  public long bytes() {
    return budget.bytes();
  }

  /**
   * Checks the tables' own invariants: that every key is where it is looked for, and that the sums
   * of keys and bytes are right. For tests and for bug reports: it looks at every slot, and nobody
   * may be deciding meanwhile.
   *
   * @throws IllegalStateException if a table is broken
   */
  public void verify() {
    long keys = 0;
    long bytes = 0;
    for (Lineage lineage : lineages.values()) {
      long[] found = lineage.verify();
      keys += found[0];
      bytes += found[1];
    }
    budget.verify(keys, bytes);
  }

  @Override
  public void close() {}

  private static long clamp(long nanos) {
    return Math.max(-Meter.HORIZON_NANOS, Math.min(Meter.HORIZON_NANOS, nanos));
  }
}
