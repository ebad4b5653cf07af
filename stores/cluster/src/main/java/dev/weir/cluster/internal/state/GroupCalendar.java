package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.peer.Levels;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/**
 * The calendar of one group, which follows the wall clock of the member that leads it. Safe for use
 * by many threads.
 */
public final class GroupCalendar {
  /*
   * How does a group follow a calendar, when no wall clock may be trusted? Its time is the log's,
   * which no wall clock moves; the calendar is that time and an offset, which only entries of the
   * log step, and only ahead (MemoryStore.stepCalendar): all replicas step it at one place. The
   * leader compares both each second. If its wall clock is ahead of the calendar by a little, since
   * the group's time stood still for an election or runs a little slow, it appends an entry. If it
   * is ahead by more than the allowed skew, then the cluster was away for that long, or this clock
   * is wrong; the leader cannot distinguish the two. It appends nothing and reports that, and an
   * operator decides, who can compare with another clock. A wall clock that is behind changes
   * nothing: the calendar waits for it.
   *
   * At a level without calendars, the leader compares nothing: the calendar is the group's time.
   * Images of a store whose calendar was never stepped are the same as before calendars existed.
   */

  private static final double SECOND = 1e9;

  private final int group;
  private final Ledger ledger;
  private final Replica replica;
  private final ClusterTime time;
  private final WallClock wall;
  private final Consumer<? super String> log;
  private final LongAdder faults = new LongAdder();
  private volatile boolean faulty;

  public GroupCalendar(
      int group,
      Ledger ledger,
      Replica replica,
      ClusterTime time,
      WallClock wall,
      Consumer<? super String> log) {
    this.group = group;
    this.ledger = ledger;
    this.replica = replica;
    this.time = time;
    this.wall = wall;
    this.log = log;
  }

  /** Returns the time by which the calendar is behind this member's wall clock. */
  public long behindNanos() {
    return wall.ticker().nanos() - time.nowNanos() - replica.store().calendarOffsetNanos();
  }

  /** Returns whether this member leads and does not follow its wall clock, which is too far off. */
  public boolean faulty() {
    return faulty;
  }

  /** Returns the number of times that this began. */
  public long faults() {
    return faults.sum();
  }

  /** Compares the calendar with the wall clock; to be called each second. */
  public void check() {
    if (!ledger.leads() || replica.diverged() || replica.level() < Levels.CALENDAR) {
      faulty = false;
      return;
    }
    long behind = behindNanos();
    if (Math.abs(behind) > wall.maxErrorNanos()) {
      fault(behind);
      return;
    }
    faulty = false;
    if (behind >= Replica.LEAST_STEP_NANOS) {
      CompletionStage<?> unused = set(wall.ticker().nanos());
    }
  }

  private void fault(long behind) {
    if (faulty) {
      return;
    }
    faulty = true;
    faults.increment();
    log.accept(
        String.format(
            Locale.ROOT,
            "cluster: group %d: the calendar is %.1f s %s this machine's wall clock, and does not"
                + " follow it (expected: within %.1f s); if the wall clock is right: weir cluster"
                + " calendar --now",
            group,
            Math.abs(behind) / SECOND,
            behind < 0 ? "ahead of" : "behind",
            wall.maxErrorNanos() / SECOND));
  }

  /**
   * Sets the calendar to the time of a wall clock, unless it is there already or later; if this
   * member leads.
   *
   * @return completes when it is applied
   */
  public CompletionStage<byte[]> set(long wallNanos) {
    int level = replica.level();
    if (level < Levels.CALENDAR) {
      return CompletableFuture.failedStage(
          new IOException(
              "group "
                  + group
                  + " is at level "
                  + level
                  + " (expected: at least "
                  + Levels.CALENDAR
                  + ", from which on calendars are set)"));
    }
    return ledger.append(Entry.calendar(wallNanos));
  }
}
