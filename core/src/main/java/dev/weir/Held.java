package dev.weir;

import org.jspecify.annotations.Nullable;

/** One charge's key, held: everything a decision needs of it between locking and unlocking. */
final class Held {
  private final Lineage lineage;
  private final Policy policy;
  final long fingerprint;
  final long permits;
  private Lineage.Member[] members = {};
  private int primary;
  private long[] state = {};
  private boolean known;
  long effectiveNanos;

  Held(Lineage lineage, Policy policy, long fingerprint, long permits) {
    this.lineage = lineage;
    this.policy = policy;
    // Zero marks a free slot; sharing a limit with the key beside it can only deny.
    this.fingerprint = fingerprint == 0 ? 1 : fingerprint;
    this.permits = Math.min(permits, Meter.MOST_PERMITS);
  }

  /** Reads which tables count, before their stripes are locked. */
  void aim(long now) {
    members = lineage.members();
    for (primary = find(); primary < 0; primary = find()) {
      lineage.reopen(policy, now);
      members = lineage.members();
    }
  }

  private int find() {
    for (int i = 0; i < members.length; i++) {
      if (members[i].table().shape.equals(policy.shape())) {
        return i;
      }
    }
    return -1;
  }

  int stripes() {
    return members.length;
  }

  Stripe stripe(int i) {
    return members[i].table().stripe(fingerprint);
  }

  /** Returns whether what is locked is still what counts. */
  boolean current() {
    return lineage.members() == members;
  }

  boolean sameKey(Held other) {
    return fingerprint == other.fingerprint && lineage == other.lineage;
  }

  private Meter meter() {
    return members[primary].table().meter;
  }

  /** Looks the key up; one that is new here starts with what the witnesses know. */
  void look(long now) {
    Stripe stripe = stripe(primary);
    long[] found = stripe.state(fingerprint);
    known = found != null;
    if (found != null) {
      state = found;
      effectiveNanos = meter().effectiveNanos(state, now);
    } else {
      effectiveNanos = Math.max(now, stripe.floorNanos());
      state = members.length == 1 ? members[0].table().fresh : seeded(now);
      effectiveNanos = meter().effectiveNanos(state, effectiveNanos);
    }
  }

  private long[] seeded(long now) {
    Lineage.Member source = witness();
    long[] known = source == null ? null : source.table().stripe(fingerprint).state(fingerprint);
    if (source == null || known == null) {
      return members[primary].table().fresh;
    }
    Meter from = source.table().meter;
    long[][] seed = {meter().fresh()};
    Policy widest = source.widest(now);
    from.outline(
        known,
        from.effectiveNanos(known, now),
        widest,
        (at, permits) ->
            seed[0] = meter().force(seed[0], Math.min(at, now), at, permits, policy, policy));
    return seed[0];
  }

  /** Returns the witness that knows the key and remembers longest, exact ones first. */
  private Lineage.@Nullable Member witness() {
    Lineage.Member best = null;
    for (int i = 0; i < members.length; i++) {
      if (i != primary && stripe(i).state(fingerprint) != null && better(members[i], best)) {
        best = members[i];
      }
    }
    return best;
  }

  private static boolean better(Lineage.Member candidate, Lineage.@Nullable Member best) {
    if (best == null) {
      return true;
    }
    Shape a = candidate.table().shape;
    Shape b = best.table().shape;
    return a.windowNanos() != b.windowNanos()
        ? a.windowNanos() > b.windowNanos()
        : a.algorithm().compareTo(b.algorithm()) < 0;
  }

  long waitNanos(long alsoPermits) {
    return meter()
        .waitNanos(
            state, effectiveNanos, Math.min(permits + alsoPermits, Meter.MOST_PERMITS), policy);
  }

  long queueNanos() {
    return meter().queueNanos(state, effectiveNanos, permits, policy);
  }

  /** Returns how many slots a charge would add to the tables. */
  int newSlots() {
    int count = 0;
    for (int i = 0; i < members.length; i++) {
      if (i == primary ? !known : stripe(i).state(fingerprint) == null) {
        count++;
      }
    }
    return count;
  }

  /** Charges here and records with the witnesses. Returns how many slots that added. */
  int charge(long wait, long now) {
    // A second charge of the same key in this request must see the first.
    long[] stored = stripe(primary).state(fingerprint);
    long[] base = stored != null ? stored : known ? state : state.clone();
    state = meter().charge(base, effectiveNanos, wait, permits, policy);
    int added = stripe(primary).put(fingerprint, state, now);
    for (int i = 0; i < members.length; i++) {
      if (i != primary) {
        added += record(members[i], stripe(i), wait, now);
      }
    }
    return added;
  }

  private int record(Lineage.Member member, Stripe stripe, long wait, long now) {
    long[] before = stripe.state(fingerprint);
    long[] after =
        member
            .table()
            .meter
            .force(
                before == null ? member.table().meter.fresh() : before,
                effectiveNanos,
                effectiveNanos + wait,
                permits,
                member.widest(now),
                policy);
    return stripe.put(fingerprint, after, now);
  }

  long remaining() {
    return Math.min(policy.burst(), meter().remaining(state, effectiveNanos, policy));
  }

  /** Returns when the key will be as good as new, counted from {@code at}. */
  long resetNanos(long at) {
    return Math.max(0, meter().restedAtNanos(state) - at);
  }

  /** Gives back in the table that charged, and in no witness: those may keep too much. */
  long refund(Decision charged, long now) {
    long[] found = stripe(primary).state(fingerprint);
    if (found == null) {
      return 0;
    }
    long effective = meter().effectiveNanos(found, now);
    long reset = charged.atNanos() + charged.resetAfterNanos();
    return meter().refund(found, effective, permits, charged.atNanos(), reset, policy);
  }
}
