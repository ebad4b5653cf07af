package dev.weir;

import java.util.ArrayList;
import java.util.List;

/**
 * The tables that have counted for one name, and so what a change of its policy must not forget.
 */
final class Lineage {
  /*
   * How do rules change without minting? A change of the limit alone keeps the shape, and the table
   * simply goes on. A change of algorithm or window is a new shape with a table of its own, and the
   * old one becomes a witness: for as long as its states can matter it records every admission,
   * whoever decided it. So
   *
   *  - a key that a table does not know starts there with what the others know of it, be it asked
   *    about or only recorded, and
   *  - a shape that comes back finds all that was admitted while it was away.
   *
   * Hence a shape's own window always holds what was admitted in it, by whichever policy, and each
   * policy admits only what still fits its limit: within a window the largest limit in force is
   * never exceeded, however fast the rules flap.
   *
   * The members are an immutable array behind one volatile field. A decision reads it, locks the
   * key's stripe in every member, and reads it again: what is locked is then current, and nobody who
   * saw an older array can still be deciding this key, since he held a lock that is held now.
   */

  /** Shapes that one name can have within their windows. Each costs a write a decision. */
  static final int MAX_MEMBERS = 8;

  /**
   * One shape's table.
   *
   * @param last the newest policy of this shape
   * @param widest the policy with the largest limit that may still matter
   * @param widestLeftNanos when the policy last changed while that was not in force, or {@link
   *     Long#MAX_VALUE}
   * @param retiredNanos when the shape was replaced, or {@link Long#MAX_VALUE}
   */
  record Member(Table table, Policy last, Policy widest, long widestLeftNanos, long retiredNanos) {

    /** Returns the policy with the largest limit that was in force while the states remember. */
    Policy widest(long nowNanos) {
      return outlived(widestLeftNanos, nowNanos) ? last : widest;
    }

    private boolean outlived(long sinceNanos, long nowNanos) {
      // A clock that went back may have told of the change after it told of later admissions.
      return sinceNanos != Long.MAX_VALUE
          && nowNanos - Math.max(sinceNanos, table.latestNanos()) > table.shape.memoryNanos();
    }

    private boolean over(long nowNanos) {
      return outlived(retiredNanos, nowNanos);
    }

    private Member with(Policy policy, long nowNanos) {
      Policy widest = widest(nowNanos);
      if (policy.quota().permits() >= widest.quota().permits()) {
        return new Member(table, policy, policy, Long.MAX_VALUE, Long.MAX_VALUE);
      }
      // Counted from this change: the policy that goes now may itself have been the second widest.
      return new Member(table, policy, widest, nowNanos, Long.MAX_VALUE);
    }

    private Member retired(long nowNanos) {
      return retiredNanos == Long.MAX_VALUE
          ? new Member(table, last, widest, widestLeftNanos, nowNanos)
          : this;
    }
  }

  private final String name;
  private final Budget budget;
  private volatile Member[] members = {};

  Lineage(String name, Budget whole) {
    this.name = name;
    this.budget = whole.part();
  }

  /** Returns the keys and bytes that this name has and may have. */
  Budget budget() {
    return budget;
  }

  String name() {
    return name;
  }

  Member[] members() {
    return members;
  }

  /** Puts a policy in force; the others' shapes become witnesses. */
  synchronized void inForce(Policy policy, long nowNanos) {
    budget.maxKeys(policy.maxKeys());
    change(policy, true, nowNanos);
  }

  /** Makes sure that a policy has a table, for a request that began before the policy went. */
  synchronized void reopen(Policy policy, long nowNanos) {
    change(policy, false, nowNanos);
  }

  private void change(Policy policy, boolean alone, long nowNanos) {
    List<Member> changed = new ArrayList<>();
    boolean found = false;
    for (Member member : members) {
      if (member.table.shape.equals(policy.shape())) {
        changed.add(alone ? member.with(policy, nowNanos) : member);
        found = true;
      } else if (!member.over(nowNanos)) {
        changed.add(alone ? member.retired(nowNanos) : member);
      }
    }
    if (!found) {
      if (alone && changed.size() >= MAX_MEMBERS) { // A request in flight is never failed.
        throw new IllegalStateException(
            name
                + ": changed its algorithm or window "
                + changed.size()
                + " times within its windows (expected: at most "
                + (MAX_MEMBERS - 1)
                + ")");
      }
      long retired = alone ? Long.MAX_VALUE : nowNanos;
      Table table = new Table(policy.shape(), budget);
      changed.add(new Member(table, policy, policy, Long.MAX_VALUE, retired));
    }
    swap(changed);
  }

  /** Takes the name out of force; everything becomes a witness. */
  synchronized void retire(long nowNanos) {
    List<Member> retired = new ArrayList<>();
    for (Member member : members) {
      retired.add(member.retired(nowNanos));
    }
    swap(retired);
  }

  /**
   * Drops witnesses whose time is over and forgets rested keys. Returns whether nothing is left.
   */
  synchronized boolean expire(long nowNanos) {
    List<Member> kept = new ArrayList<>();
    for (Member member : members) {
      if (!member.over(nowNanos)) {
        member.table.forgetSome(nowNanos);
        kept.add(member);
      }
    }
    if (kept.size() < members.length) {
      swap(kept);
    }
    return kept.isEmpty();
  }

  private void swap(List<Member> changed) {
    Member[] before = members;
    members = changed.toArray(new Member[0]);
    for (Member member : before) {
      if (changed.stream().noneMatch(kept -> kept.table == member.table)) {
        member.table.clear();
      }
    }
  }

  /** As {@link Table#verify()}, for all of this name's tables. */
  long[] verify() {
    long[] found = {0, 0};
    for (Member member : members) {
      long[] each = member.table.verify();
      found[0] += each[0];
      found[1] += each[1];
    }
    budget.verify(found[0], found[1]);
    return found;
  }
}
