package dev.weir;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One charge's key, held: everything a decision needs of it between locking and unlocking. */
final class Held {
  private final MemoryStore store;
  private final Policy policy;
  final long fingerprint;
  final long permits;
  private Lineage lineage;
  private Lineage.Member[] members = {};
  private int primary;
  private long[] state = {};
  private boolean known;
  long effectiveNanos;

  Held(MemoryStore store, Lineage lineage, Policy policy, long fingerprint, long permits) {
    this.store = store;
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
      lineage = store.reopened(lineage, policy, now);
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

  private long @Nullable [] known(int i) {
    return stripe(i).state(fingerprint);
  }

  /** Returns what the other tables know of a key that table {@code i} has not seen. */
  private long[] seeded(int i, long now) {
    Lineage.Member target = members[i];
    Policy asked = i == primary ? policy : target.widest(now);
    int complete = completeWitness(i);
    long[][] seed = {target.table().meter.fresh()};
    for (int j = 0; j < members.length; j++) {
      long[] state = j == i || (complete >= 0 && j != complete) ? null : known(j);
      if (state != null) {
        Meter from = members[j].table().meter;
        Policy widest = members[j].widest(now);
        from.outline(
            state,
            from.effectiveNanos(state, now),
            widest,
            (at, permits) ->
                seed[0] =
                    target
                        .table()
                        .meter
                        .force(seed[0], Math.min(at, now), at, permits, asked, widest));
      }
    }
    return seed[0];
  }

  /**
   * Returns a witness that knows everything in the window of table {@code i}, the exact one if
   * there is a choice, or -1: then what all of them know is added up, which can only deny.
   */
  private int completeWitness(int i) {
    Shape wanted = members[i].table().shape;
    int best = -1;
    for (int j = 0; j < members.length; j++) {
      Shape shape = members[j].table().shape;
      if (j != i
          && shape.strict()
          && shape.windowNanos() >= wanted.windowNanos()
          && known(j) != null
          && (best < 0 || shape.algorithm() == Algorithm.SLIDING_WINDOW_LOG)) {
        best = j;
      }
    }
    return best;
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
      if (i == primary ? !known : known(i) == null) {
        count++;
      }
    }
    return count;
  }

  /** Charges here and records with the witnesses. Returns how many slots that added. */
  int charge(long wait, long now) {
    // What a witness lacks it learns from the others, before they know of this charge.
    long[][] before = new long[members.length][];
    for (int i = 0; i < before.length; i++) {
      long[] found = known(i);
      before[i] = found != null ? found : i == primary ? state.clone() : seeded(i, now);
    }
    int added = 0;
    for (int i = 0; i < before.length; i++) {
      long[] after =
          i == primary
              ? meter().charge(before[i], effectiveNanos, wait, permits, policy)
              : record(members[i], before[i], wait, now);
      added += stripe(i).put(fingerprint, after, now);
    }
    state = Objects.requireNonNull(known(primary));
    return added;
  }

  private long[] record(Lineage.Member member, long[] before, long wait, long now) {
    long at = effectiveNanos + wait;
    Policy widest = member.widest(now);
    return member.table().meter.force(before, effectiveNanos, at, permits, widest, policy);
  }

  long remaining() {
    return Math.min(policy.burst(), meter().remaining(state, effectiveNanos, policy));
  }

  /** Returns when the key will be as good as new, counted from {@code at}. */
  long resetNanos(long at) {
    return Math.max(at, meter().restedAtNanos(state)) - at;
  }

  /**
   * Gives back in the table that charged, and in no witness: those may keep too much. At the latest
   * time known here: how much a charge still weighs must not grow with a clock that goes back.
   */
  long refund(Decision charged, long now) {
    long[] found = known(primary);
    boolean samePrice = !policy.algorithm().bucket() || charged.limit() == policy.burst();
    if (found == null || permits < 0 || !samePrice) {
      return 0;
    }
    long latest = Math.max(now, stripe(primary).latestNanos());
    long effective = meter().effectiveNanos(found, latest);
    long reset = charged.atNanos() + charged.resetAfterNanos();
    return meter().refund(found, effective, permits, charged.atNanos(), reset, policy);
  }
}
