package dev.weir;

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
      state = members.length == 1 ? members[0].table().fresh : seeded(primary, now);
      effectiveNanos = meter().effectiveNanos(state, effectiveNanos);
    }
  }

  /** Returns a first state for the key in that table: what the other tables know of it. */
  private long[] seeded(int target, long now) {
    Meter meter = members[target].table().meter;
    int source = witness(target);
    if (source < 0) {
      return members[target].table().fresh;
    }
    long[] known = stripe(source).state(fingerprint);
    if (known == null) {
      throw new IllegalStateException("witness: does not know the key");
    }
    Meter from = members[source].table().meter;
    Policy asked = target == primary ? policy : members[target].widest(now);
    Policy admitting = target == primary ? policy : narrowest();
    long[][] seed = {meter.fresh()};
    from.outline(
        known,
        from.effectiveNanos(known, now),
        members[source].widest(now),
        (at, permits) ->
            seed[0] = meter.force(seed[0], Math.min(at, now), at, permits, asked, admitting));
    return seed[0];
  }

  /** Returns the policy with the smallest limit: whoever admitted, a permit was no more to him. */
  private Policy narrowest() {
    Policy narrowest = members[0].last();
    for (Lineage.Member member : members) {
      if (member.last().quota().permits() < narrowest.quota().permits()) {
        narrowest = member.last();
      }
    }
    return narrowest;
  }

  /** Returns the table that knows the key and remembers longest, exact ones first; or -1. */
  private int witness(int target) {
    int best = -1;
    for (int i = 0; i < members.length; i++) {
      boolean knows = i != target && stripe(i).state(fingerprint) != null;
      if (knows && (best < 0 || better(members[i], members[best]))) {
        best = i;
      }
    }
    return best;
  }

  private static boolean better(Lineage.Member candidate, Lineage.Member best) {
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
    // A witness that does not know the key yet must first learn what was admitted before this.
    long[][] states = new long[members.length][];
    for (int i = 0; i < members.length; i++) {
      long[] stored = stripe(i).state(fingerprint);
      // A second charge of the same key in this request must see the first.
      states[i] = stored != null ? stored : i == primary && known ? state : first(i, now);
    }
    int added = 0;
    for (int i = 0; i < members.length; i++) {
      Lineage.Member member = members[i];
      long[] after;
      if (i == primary) {
        after = member.table().meter.charge(states[i], effectiveNanos, wait, permits, policy);
        state = after;
      } else {
        long at = effectiveNanos + wait;
        Policy asked = member.widest(now);
        after = member.table().meter.force(states[i], effectiveNanos, at, permits, asked, policy);
      }
      added += stripe(i).put(fingerprint, after, now);
    }
    return added;
  }

  private long[] first(int target, long now) {
    return members.length == 1
        ? members[target].table().fresh.clone()
        : seeded(target, now).clone();
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
