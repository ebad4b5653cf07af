package dev.weir;

import dev.weir.Journal.PolicyValues;
import dev.weir.Journal.Ref;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The journal from the view of one table. Each call is made under the lock of the segment that has
 * changed, with that segment's epoch.
 */
final class TableJournal {
  private static final int MOST_KNOWN = 1 << 14;

  private final Journal journal;
  private final String name;
  private final Shape shape;
  private final int cellBits;

  /** The policy from which a reader makes the table. */
  private final KnownPolicy first;

  /** The largest limit that a reader will find. */
  private long covered;

  /** The policy that was referred to last: mostly the only one. Racy on purpose. */
  private KnownPolicy last;

  /** Other policies that were referred to, by identity. */
  private final ConcurrentHashMap<Policy, KnownPolicy> all = new ConcurrentHashMap<>();

  /** A policy with its number. */
  private record KnownPolicy(Policy policy, int ref) {}

  /**
   * Creates the journal of a table.
   *
   * @param policy one of the table's shape, from which a reader makes the table
   */
  TableJournal(Journal journal, String name, Policy policy, int cellBits) {
    this.journal = journal;
    this.name = name;
    this.shape = policy.shape();
    this.cellBits = cellBits;
    this.first = new KnownPolicy(policy, journal.ref(refTo(policy), true));
    this.last = first;
    this.covered = policy.quota().permits();
  }

  private Ref refTo(Policy policy) {
    return new Ref(name, shape, cellBits, new PolicyValues(policy));
  }

  int epoch() {
    return journal.epoch();
  }

  private int ref(Policy policy) {
    KnownPolicy known = last;
    if (known.policy != policy) {
      if (all.size() >= MOST_KNOWN) {
        all.clear(); // Policies that were replaced must not stay for ever.
      }
      known =
          all.computeIfAbsent(
              policy, each -> new KnownPolicy(each, journal.ref(refTo(each), false)));
      last = known;
    }
    return known.ref;
  }

  /** Returns the number of this table, where the policy does not matter. */
  private int ref() {
    return first.ref;
  }

  /**
   * Journals that a policy of the table's shape may charge keys: the largest limit matters to a
   * reader. Limits are rounded up, so that ever larger ones are journaled only a few times. Not
   * called by several threads at once.
   */
  void mayCharge(Policy policy) {
    if (policy.quota().permits() > covered) {
      long most =
          policy.algorithm() == Algorithm.CONCURRENCY ? Policy.MOST_SEATS : Quota.MAX_PERMITS;
      long rounded = Math.min(Long.highestOneBit(policy.quota().permits()) * 2, most);
      Policy larger = policy.withPermits(rounded);
      Policy covering = larger.shape().equals(shape) ? larger : policy;
      covered = covering.quota().permits();
      int unused = journal.ref(refTo(covering), true);
    }
  }

  /** Journals the state of a bucket. */
  void bucket(int epoch, long fingerprint, long effective, long state) {
    int ref = ref();
    if (ref >= 0) {
      journal.write(Journal.head(Journal.BUCKET, epoch, ref), fingerprint, effective, state);
    }
  }

  /**
   * Journals {@link Meter#charge}.
   *
   * @return false if the state has to be journaled instead
   */
  boolean charged(
      int epoch, long fingerprint, long effective, long wait, long permits, Policy policy) {
    int ref = ref(policy);
    if (ref >= 0 && wait == 0) {
      journal.write(Journal.head(Journal.CHARGE, epoch, ref), fingerprint, effective, permits);
    } else if (ref >= 0) {
      int head = Journal.head(Journal.CHARGE_LATER, epoch, ref);
      journal.write(head, new long[] {fingerprint, effective, permits, wait});
    }
    return ref >= 0;
  }

  /**
   * Journals {@link Meter#record}.
   *
   * @return false if the state has to be journaled instead
   */
  boolean recorded(
      int epoch,
      long fingerprint,
      long effective,
      long at,
      long permits,
      Policy asked,
      Policy admitting) {
    int ref = ref(asked);
    int admittingRef = ref < 0 ? -1 : ref(admitting);
    if (admittingRef >= 0) {
      int head = Journal.head(Journal.RECORD, epoch, ref);
      journal.write(head, new long[] {fingerprint, effective, at, permits, admittingRef});
    }
    return admittingRef >= 0;
  }

  /**
   * Journals {@link Meter#refund}.
   *
   * @return false if the state has to be journaled instead
   */
  boolean refunded(int epoch, long fingerprint, long latest, long given, long at, Policy policy) {
    int ref = ref(policy);
    if (ref >= 0) {
      int head = Journal.head(Journal.REFUND, epoch, ref);
      journal.write(head, new long[] {fingerprint, latest, given, at});
    }
    return ref >= 0;
  }

  /** Journals the state of a key that is there, or was added; or of a cell that was added. */
  void state(int epoch, long fingerprint, boolean cell, long[] state, int offset, int length) {
    int ref = ref();
    if (ref >= 0) {
      int head = Journal.head(cell ? Journal.CELL : Journal.STATE, epoch, ref);
      journal.write(head, new long[] {fingerprint, length}, 2, state, offset, length);
    }
  }

  void removed(int epoch, long fingerprint) {
    int ref = ref();
    if (ref >= 0) {
      journal.write(Journal.head(Journal.REMOVE, epoch, ref), new long[] {fingerprint});
    }
  }

  void barred(int epoch, long fingerprint, long until, long now) {
    int ref = ref();
    if (ref >= 0) {
      journal.write(Journal.head(Journal.BAR, epoch, ref), new long[] {fingerprint, until, now});
    }
  }
}
