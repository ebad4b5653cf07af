package dev.weir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tables that have counted for one name, so that a change of its policy keeps their counts. */
final class PolicyHistory {
  /*
   * How do rules change without admitting more than any of them allows? A change of the limit alone
   * keeps the shape, and its table. A change of algorithm or window is a new shape with a table of
   * its own, and the old one becomes a witness: for as long as its states can matter it records
   * every admission, whichever table decided it. So
   *
   *  - a key that is new to a table starts there with what the others count for it, whether it is
   *    decided there or only recorded, and
   *  - a shape that comes back finds all that was admitted while it was away.
   *
   * Hence a shape's own window always holds what was admitted in it, by whichever policy, and each
   * policy admits only what still fits its limit: within a window the largest limit in force is
   * never exceeded, however often the rules change.
   *
   * The tables are an immutable array behind one volatile field. A decision reads it, locks the
   * key's segment in every table, and reads it again: if the array is the same, the locked tables
   * are current, and no thread that read an older array can still be deciding this key, since it
   * held a lock that is held now.
   */

  /**
   * The most shapes that one name can have within their windows. Each shape costs one write for
   * each decision.
   */
  static final int MAX_TABLES = 8;

  private final String name;
  private Budget budget;
  private Calendar calendar;
  private long unknownBeforeNanos;
  private @Nullable Journal journal;
  private volatile ShapeTable[] tables = {};

  /**
   * Creates a history without tables.
   *
   * @param unknownBeforeNanos the instant before which it is not known what was admitted, or {@link
   *     Meter#LONG_AGO}
   */
  PolicyHistory(String name, Budget whole, Calendar calendar, long unknownBeforeNanos) {
    this.name = name;
    this.calendar = calendar;
    this.budget = whole.part();
    this.unknownBeforeNanos = unknownBeforeNanos;
  }

  /** Journals every change of this name's tables from now on, before any decision. */
  synchronized PolicyHistory journaled(@Nullable Journal whole) {
    journal = whole;
    for (ShapeTable each : tables) {
      journal(each.table(), each.last());
    }
    return this;
  }

  private void journal(Table table, Policy policy) {
    if (journal != null) {
      table.journal(new TableJournal(journal, name, policy, table.cellBits()));
    }
  }

  private Table newTable(Policy policy) {
    Table table = Table.alone(policy.shape(), budget, calendar);
    journal(table, policy);
    return table;
  }

  /**
   * Becomes the history of the same name in a store that was read, which is not used any more. This
   * one has no tables, and decides from here on.
   */
  synchronized void takeOver(PolicyHistory read) {
    budget = read.budget;
    calendar = read.calendar;
    unknownBeforeNanos = read.unknownBeforeNanos;
    journal = read.journal;
    tables = read.tables; // Last: requests see them without a lock.
  }

  /** Takes over tables from an image: witnesses, until a policy of their shape is in force. */
  synchronized void restore(List<ShapeTable> restored, long nowNanos) {
    swap(restored.stream().map(each -> each.retired(nowNanos)).toList());
  }

  /** Takes over tables from an image exactly as they were. */
  synchronized void resume(List<ShapeTable> restored, long maxKeys) {
    budget.maxKeys(maxKeys);
    swap(restored);
  }

  /** Begins an image of the current counts. */
  synchronized Image.Name beginImage(int number) {
    List<TableImage> captured = new ArrayList<>();
    for (ShapeTable each : tables) {
      captured.add(each.table().beginImage(each, number));
    }
    return new Image.Name(name, budget.ownMaxKeys(), captured);
  }

  /** Returns whether there is a table of a shape. */
  boolean has(Shape shape) {
    for (ShapeTable each : tables) {
      if (each.table().shape.equals(shape)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the keys and bytes that this name has and may have. */
  Budget budget() {
    return budget;
  }

  String name() {
    return name;
  }

  ShapeTable[] tables() {
    return tables;
  }

  /** Puts a policy in force; tables of other shapes become witnesses. */
  synchronized void putInForce(Policy policy, long nowNanos) {
    budget.maxKeys(policy.maxKeys());
    change(policy, true, nowNanos);
  }

  /** Ensures that a policy has a table, for a request that began before the policy was replaced. */
  synchronized void reopen(Policy policy, long nowNanos) {
    change(policy, false, nowNanos);
  }

  /** Records that keys of a shape are decided under another policy beside the one in force. */
  void widen(Policy policy) {
    for (ShapeTable each : tables) {
      if (each.table().shape.equals(policy.shape()) && !each.covers(policy)) {
        widenTables(policy);
        return;
      }
    }
  }

  /** Returns whether the admissions before some instant are unknown for any table. */
  boolean isUnknown() {
    for (ShapeTable each : tables) {
      if (each.table().unknownBeforeNanos() != Meter.LONG_AGO) {
        return true;
      }
    }
    return false;
  }

  /** Records that keys are decided under another policy of any shape. */
  synchronized void alsoDecides(Policy policy) {
    for (ShapeTable each : tables) {
      each.table().alsoDecides(policy);
    }
  }

  /** Treats the past of this name as known, as {@link MemoryStore#forgetUnknown} does for all. */
  synchronized void forgetUnknown() {
    unknownBeforeNanos = Meter.LONG_AGO;
    for (ShapeTable each : tables) {
      each.table().forgetUnknown();
    }
  }

  private synchronized void widenTables(Policy policy) {
    List<ShapeTable> widened = new ArrayList<>();
    mayCharge(policy);
    for (ShapeTable each : tables) {
      widened.add(each.table().shape.equals(policy.shape()) ? each.widened(policy) : each);
    }
    swap(widened);
  }

  private void mayCharge(Policy policy) {
    for (ShapeTable each : tables) {
      TableJournal own = each.table().journal;
      if (own != null && each.table().shape.equals(policy.shape())) {
        own.mayCharge(policy);
      }
    }
  }

  private void change(Policy policy, boolean alone, long nowNanos) {
    mayCharge(policy);
    List<ShapeTable> changed = new ArrayList<>();
    boolean found = false;
    for (ShapeTable each : tables) {
      if (each.table().shape.equals(policy.shape())) {
        changed.add(alone ? each.with(policy, nowNanos) : each.widened(policy));
        found = true;
      } else if (!each.isOver(nowNanos)) {
        changed.add(alone ? each.retired(nowNanos) : each);
      }
    }
    if (!found) {
      if (alone && changed.size() >= MAX_TABLES) { // A request under way is never refused for this.
        throw new IllegalStateException(
            name
                + ": changed its algorithm or window "
                + changed.size()
                + " times within its windows (expected: at most "
                + (MAX_TABLES - 1)
                + ")");
      }
      Table table = newTable(policy);
      if (unknownBeforeNanos != Meter.LONG_AGO) {
        table.unknownBefore(unknownBeforeNanos, nowNanos);
      }
      ShapeTable added = ShapeTable.inForce(table, policy);
      changed.add(alone ? added : added.retired(nowNanos));
    }
    swap(changed);
  }

  /**
   * Returns the table of a shape, which is to take keys from another store: the existing one, or a
   * new one, which is a witness until a policy of its shape is in force.
   *
   * @param widest the policy with the largest limit that the keys may have been charged under
   * @param pauses of the keys
   */
  synchronized Table tableFor(Policy last, Policy widest, List<Pause> pauses, long nowNanos) {
    List<ShapeTable> changed = new ArrayList<>();
    Table found = null;
    for (ShapeTable each : tables) {
      boolean same = each.table().shape.equals(last.shape());
      found = same ? each.table() : found;
      changed.add(same ? each.alsoOf(widest, nowNanos) : each);
    }
    if (found == null) {
      found = newTable(last);
      changed.add(new ShapeTable(found, last, widest, nowNanos, nowNanos));
    }
    found.pause(pauses);
    swap(changed); // After the pauses, so that no request bypasses them on the fast path.
    return found;
  }

  /** Returns the table of a policy, for what a journal has counted under it. */
  synchronized Table tableOf(Policy policy) {
    if (!has(policy.shape())) {
      List<ShapeTable> added = new ArrayList<>(List.of(tables));
      added.add(ShapeTable.inForce(newTable(policy), policy));
      swap(added);
    }
    widen(policy);
    for (ShapeTable each : tables) {
      if (each.table().shape.equals(policy.shape())) {
        return each.table();
      }
    }
    throw new AssertionError(policy);
  }

  /** Forgets every key between two fingerprints, and their pauses. */
  synchronized void drop(long first, long last) {
    for (ShapeTable each : tables) {
      each.table().drop(first, last);
    }
    swap(List.of(tables));
  }

  /** Takes the name out of force; all of its tables become witnesses. */
  synchronized void retire(long nowNanos) {
    List<ShapeTable> retired = new ArrayList<>();
    for (ShapeTable each : tables) {
      retired.add(each.retired(nowNanos));
    }
    swap(retired);
  }

  /**
   * Drops witnesses whose time is over and forgets keys that have reset. Returns whether no table
   * is left.
   */
  synchronized boolean expire(long nowNanos) {
    List<ShapeTable> kept = new ArrayList<>();
    boolean pausesEnd = false;
    for (ShapeTable each : tables) {
      if (!each.isOver(nowNanos)) {
        each.table().forgetSome(nowNanos);
        pausesEnd |= each.table().endPauses(nowNanos);
        kept.add(each);
      }
    }
    if (kept.size() < tables.length || pausesEnd) { // So that requests choose their path anew.
      swap(kept);
    }
    return kept.isEmpty();
  }

  private void swap(List<ShapeTable> changed) {
    ShapeTable[] before = tables;
    tables = changed.toArray(new ShapeTable[0]);
    for (ShapeTable each : before) {
      if (changed.stream().noneMatch(kept -> kept.table() == each.table())) {
        each.table().leave();
      }
    }
  }

  /**
   * Returns the only table, if it may share a directory with those of other names: it is in force.
   */
  synchronized @Nullable ShapeTable movable() {
    ShapeTable[] now = tables;
    return now.length == 1
            && now[0].retiredNanos() == Long.MAX_VALUE
            && now[0].table().pauses().isEmpty()
        ? now[0]
        : null;
  }

  /** Begins to journal another table, to which the keys of the only one were moved. */
  synchronized void journalMoved(Table table) {
    journal(table, tables[0].last());
  }

  /** Goes on with that table. */
  synchronized void moved(Table table) {
    ShapeTable only = tables[0];
    tables =
        new ShapeTable[] {
          new ShapeTable(
              table, only.last(), only.widest(), only.widestLeftNanos(), only.retiredNanos())
        };
  }

  /** Checks the tables with directories of their own, see {@link Directory#verify()}. */
  long[] verify() {
    long[] found = {0, 0};
    for (ShapeTable each : tables) {
      if (!each.table().directory.isOfOne()) {
        continue;
      }
      long[] own = each.table().directory.verify();
      found[0] += own[0];
      found[1] += own[1];
    }
    budget.verify(found[0], found[1]);
    return found;
  }
}
