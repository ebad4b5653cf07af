package dev.weir;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The moving of the tables of several names into one {@link Directory}. */
final class TableMove {
  /*
   * All segments of all tables are locked meanwhile, in the one order in which every thread locks
   * them, so no request for these names is decided before all of their keys are moved. The new
   * directory is made last, so that its segments come last in that order; no request sees it until
   * it has everything. The histories get their new tables before the old segments are unlocked, marked as if they had been split: a request that waits for one of
   * them, or has read it without a lock, finds that it is no longer current and begins anew.
   *
   * Nothing is moved before the new directory has room for everything, and nothing is forgotten
   * before it has everything.
   */

  private final List<PolicyHistory> histories;
  private final List<ShapeTable> before = new ArrayList<>();
  private final Budget whole;
  private final Calendar calendar;
  private final long mostKeys;

  private TableMove(List<PolicyHistory> histories, Budget whole, Calendar calendar, long mostKeys) {
    this.histories = histories;
    this.whole = whole;
    this.calendar = calendar;
    this.mostKeys = mostKeys;
  }

  /**
   * Moves the tables of names into one directory, if that can be done now. The caller prevents that
   * an image begins.
   *
   * @param histories of 2 to {@link Lengths#MOST_PARTS} names
   * @param whole the budget of the store
   * @param mostKeys how many keys may be moved at most
   */
  static void run(List<PolicyHistory> histories, Budget whole, Calendar calendar, long mostKeys) {
    new TableMove(histories, whole, calendar, mostKeys).lockedFrom(0);
  }

  /** Locks the histories from one on, and then moves their tables. */
  private void lockedFrom(int first) {
    if (first == histories.size()) {
      moveAll();
      return;
    }
    synchronized (histories.get(first)) {
      ShapeTable only = histories.get(first).movable();
      if (only != null) {
        before.add(only);
        lockedFrom(first + 1);
      }
    }
  }

  private void moveAll() {
    List<Budget> budgets = histories.stream().map(PolicyHistory::budget).toList();
    List<Shape> shapes = before.stream().map(each -> each.table().shape).toList();
    Budget budget = whole.part(budgets);
    if (!isWanted(budgets) || !fits(budget)) { // Before anything is locked.
      return;
    }
    List<Long> stamps = new ArrayList<>();
    List<Segment> locked = lock(stamps);
    try {
      move(new Directory(shapes, budgets, budget, calendar), locked);
    } finally {
      for (int i = 0; i < locked.size(); i++) {
        locked.get(i).unlockWrite(stamps.get(i));
      }
    }
  }

  private Set<Directory> directories() {
    Set<Directory> found = new LinkedHashSet<>();
    before.forEach(each -> found.add(each.table().directory));
    return found;
  }

  /**
   * Returns whether the tables are apart, no other table would be left behind in their directories,
   * and a key that finds no room under one name finds none under the others either.
   */
  private boolean isWanted(List<Budget> budgets) {
    Set<Directory> from = directories();
    Set<Table> moved = new HashSet<>();
    before.forEach(each -> moved.add(each.table()));
    boolean behind =
        from.stream()
            .flatMap(each -> each.tables().stream())
            .anyMatch(table -> !table.hasLeft() && !moved.contains(table));
    boolean sketches =
        before.stream()
            .anyMatch(
                each -> each.table().sketching() || each.last().whenFull() == FullMode.SKETCH);
    long bounds = budgets.stream().mapToLong(Budget::ownMaxKeys).distinct().count();
    return from.size() > 1 && !behind && (bounds == 1 || !sketches);
  }

  /** Returns whether all keys may be moved, and have room twice. */
  private boolean fits(Budget budget) {
    long keys = directories().stream().mapToLong(Directory::size).sum();
    if (keys > mostKeys || !budget.take((int) keys, bytes(keys))) {
      return false;
    }
    budget.giveBack((int) keys);
    return true;
  }

  /** Returns about the most bytes that the moved keys will take: parts that are new to them too. */
  private long bytes(long keys) {
    long fresh = before.stream().mapToLong(each -> each.table().fresh.length).sum();
    return directories().stream().mapToLong(Directory::bytes).sum() + keys * fresh * Long.BYTES;
  }

  private List<Segment> lock(List<Long> stamps) {
    while (true) {
      TreeSet<Segment> segments = new TreeSet<>(Comparator.comparingLong(each -> each.order));
      before.forEach(each -> segments.addAll(each.table().directory.all()));
      List<Segment> all = List.copyOf(segments);
      all.forEach(each -> stamps.add(each.writeLock()));
      if (all.stream().noneMatch(Segment::isSplit)) {
        return all;
      }
      for (Segment each : all) {
        each.unlockWrite(stamps.remove(0));
      }
    }
  }

  private void move(Directory joint, List<Segment> locked) {
    long keys = locked.stream().mapToLong(Segment::size).sum();
    if (keys > mostKeys || !joint.budget.take((int) keys, bytes(keys))) {
      return;
    }
    boolean moved = false;
    try {
      for (int i = 0; i < before.size(); i++) {
        joint.table(i).moveFrom(before.get(i).table());
      }
      for (int i = 0; i < before.size(); i++) {
        histories.get(i).journalMoved(joint.table(i));
      }
      moved = true;
    } finally {
      if (!moved) { // For want of memory: everything stays as it is.
        joint.discard((int) keys);
      }
    }
    joint.budget.giveBack((int) (keys - joint.size()));
    for (int i = 0; i < before.size(); i++) {
      histories.get(i).moved(joint.table(i));
    }
    locked.forEach(Segment::giveUp);
  }
}
