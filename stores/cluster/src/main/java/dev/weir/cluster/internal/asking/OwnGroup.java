package dev.weir.cluster.internal.asking;

import dev.weir.cluster.ClusterMetrics.GroupMetrics;
import dev.weir.cluster.ClusterStatus.GroupStatus;
import dev.weir.cluster.internal.forming.LevelRaise;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.Seats;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.state.ClusterTime;
import dev.weir.cluster.internal.state.Entry;
import dev.weir.cluster.internal.state.GroupCalendar;
import dev.weir.cluster.internal.state.Replica;
import java.io.IOException;
import java.util.Objects;

/** A group's log and replica on this member. Safe for use by many threads. */
public record OwnGroup(
    int number,
    Ledger ledger,
    Replica replica,
    ClusterTime time,
    GroupLeader leader,
    GroupCalendar calendar,
    GroupCounters counters)
    implements LevelRaise.LedGroup {

  @Override
  public int level() {
    return replica.level();
  }

  /**
   * Checks its log and its calendar. If this member leads it, also lets time pass in it, so that
   * states which have reset are removed; to be called about once a second.
   *
   * @param leaves true if another member should lead, if there is one
   * @throws IOException if none takes over
   */
  public void tick(boolean leaves) throws IOException {
    counters.record(ledger.status());
    calendar.check();
    if (!ledger.leads()) {
      return;
    }
    if (!replica.diverged()) {
      Replica.Tick last = replica.lastTick();
      Object unused = ledger.append(Entry.tick(last.index(), last.sum()));
    }
    String faster = counters.flushes().successor();
    if (replica.diverged() || leaves) {
      ledger.transfer(null);
    } else if (faster != null) {
      ledger.transfer(faster);
    }
  }

  /**
   * Observes whether this member's disk holds up what it leads; to be called about ten times a
   * second.
   */
  public void observeFlushes() {
    counters.flushes().observe(ledger);
  }

  public GroupStatus status() {
    Ledger.Status status = ledger.status();
    Replica.Tick tick = replica.lastTick();
    Seats seats = ledger.seats();
    return new GroupStatus(
        number,
        Objects.requireNonNullElse(status.leader(), ""),
        ledger.leads(),
        status.term(),
        status.committed(),
        status.applied(),
        ledger.logBytes(),
        replica.store().keys(),
        replica.store().bytes(),
        time.appliedNanos(),
        replica.store().calendarOffsetNanos(),
        calendar.behindNanos(),
        calendar.faulty(),
        tick.index(),
        tick.sum(),
        replica.diverged(),
        leader.sieved(),
        seats.voters().stream().map(Member::id).toList(),
        seats.listeners().stream().map(Member::id).toList(),
        seats.settled(),
        counters.flushes().isStalled());
  }

  public GroupMetrics metrics() {
    return counters.metrics(
        number,
        ledger.leads(),
        replica.diverged(),
        ledger.status(),
        ledger.logBytes(),
        calendar.behindNanos(),
        calendar.faults(),
        replica.slots().moved(),
        replica.slots().frozen());
  }
}
