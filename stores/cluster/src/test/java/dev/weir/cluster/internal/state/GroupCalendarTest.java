package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Fingerprint;
import dev.weir.cluster.Policies;
import dev.weir.cluster.internal.log.InstantLedger;
import dev.weir.cluster.internal.operating.GroupCounters;
import dev.weir.cluster.internal.peer.Levels;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calendar of a group, compared with the wall clock of its leader. */
class GroupCalendarTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;
  private static final long DAY = 86_400 * SECOND;
  private static final Fingerprint FINGERPRINT = Fingerprint.seeded(1, 2);
  private static final ClusterPolicy DAILY =
      ClusterPolicy.of("daily", Policies.of(Algorithm.FIXED_WINDOW, 2, DAY));

  private final FakeTicker ticker = new FakeTicker(100 * DAY - 10 * SECOND);
  private final FakeTicker wall = new FakeTicker(100 * DAY - 10 * SECOND);
  private final List<String> log = new ArrayList<>();
  private final ClusterTime time = new ClusterTime(ticker);
  private final Replica replica = new Replica(FINGERPRINT, time, Runnable::run, line -> {});
  private final InstantLedger ledger =
      new InstantLedger(
          new GroupMachine(replica, time, new GroupCounters(ticker), line -> {}), true);
  private final GroupCalendar calendar =
      new GroupCalendar(3, ledger, replica, time, new WallClock(wall, SECOND), log::add);

  @BeforeEach
  void raiseTheLevel() {
    byte[] entry = Entry.level(Levels.CALENDAR);
    Entry.stamp(entry, ticker.nanos());
    assertThat(replica.apply(0, entry)).isNotEmpty();
  }

  private boolean allowed() {
    byte[] entry = Entries.entry(Entries.decideOne(DAILY, 7, 1, 1));
    return new ClusterReply(ledger.append(entry).toCompletableFuture().join()).number() == 1;
  }

  private void pass(long byTheClock, long byTheWall) {
    ticker.advance(byTheClock);
    wall.advance(byTheWall);
    calendar.check();
  }

  @Test
  void littleBehind_isStepped_andTheDayBeginsByTheWallClock() {
    pass(SECOND, SECOND + 49 * MILLI);
    assertThat(ledger.entries).as("too little").isEmpty();
    pass(SECOND, SECOND + 451 * MILLI);
    assertThat(calendar.behindNanos()).isZero();
    assertThat(replica.store().calendarOffsetNanos()).isEqualTo(500 * MILLI);

    assertThat(List.of(allowed(), allowed(), allowed())).containsExactly(true, true, false);
    pass(7_499 * MILLI, 7_499 * MILLI); // The wall clock shows a millisecond to midnight.
    assertThat(allowed()).isFalse();
    pass(MILLI, MILLI);
    assertThat(allowed()).isTrue();
    assertThat(log).isEmpty();
  }

  @Test
  void farAhead_isNotFollowed_untilItIsSetByHand() {
    assertThat(List.of(allowed(), allowed(), allowed())).containsExactly(true, true, false);
    pass(0, 3_600 * SECOND);
    pass(0, SECOND);
    assertThat(replica.store().calendarOffsetNanos()).isZero();
    assertThat(allowed()).as("still yesterday").isFalse();
    assertThat(calendar.faulty()).isTrue();
    assertThat(calendar.faults()).isEqualTo(1);
    assertThat(log)
        .singleElement()
        .asString()
        .contains("group 3: the calendar is 3600.0 s behind", "weir cluster calendar --now");

    calendar.set(wall.nanos()).toCompletableFuture().join();
    calendar.check();
    assertThat(calendar.faulty()).isFalse();
    assertThat(calendar.behindNanos()).isZero();
    ticker.advance(1_000); // The step counts after its instant.
    assertThat(allowed()).as("a new day").isTrue();
  }

  @Test
  void wallClockSetBack_waits() {
    pass(0, 400 * MILLI);
    pass(SECOND, -300 * MILLI);
    pass(SECOND, -2 * SECOND);
    assertThat(replica.store().calendarOffsetNanos()).isEqualTo(400 * MILLI);
    assertThat(calendar.faulty()).isTrue();
    assertThat(log).singleElement().asString().contains("ahead of this machine's wall clock");
    calendar.set(wall.nanos()).toCompletableFuture().join();
    assertThat(replica.store().calendarOffsetNanos()).isEqualTo(400 * MILLI);
    pass(SECOND, 5 * SECOND);
    assertThat(calendar.faulty()).isFalse();
  }

  @Test
  void memberThatDoesNotLead_logsNothing() {
    ledger.leads = false;
    pass(0, 400 * MILLI);
    pass(0, DAY);
    assertThat(ledger.entries).isEmpty();
    assertThat(log).isEmpty();
    assertThat(calendar.faults()).isZero();
  }

  @Test
  void imageGoesOn_withTheSameCalendar(@TempDir Path folder) throws IOException {
    pass(0, 400 * MILLI);
    boolean unused = allowed();
    pass(SECOND, SECOND + 300 * MILLI);
    Path file = folder.resolve("image");
    replica.image(file).toCompletableFuture().join();

    ClusterTime otherTime = new ClusterTime(new FakeTicker());
    Replica other = new Replica(FINGERPRINT, otherTime, Runnable::run, line -> {});
    other.restore(file);
    assertThat(other.store().calendarOffsetNanos()).isEqualTo(700 * MILLI);
    for (long step : new long[] {MILLI, 8 * SECOND, SECOND, DAY}) {
      pass(step, step);
      byte[] entry = Entries.entry(Entries.decideOne(DAILY, 7, 1, 5));
      Entry.stamp(entry, ticker.nanos());
      assertThat(other.apply(99, entry.clone())).isEqualTo(replica.apply(99, entry.clone()));
    }
  }

  @Test
  void levelWithoutCalendars_stepsNone() {
    Replica lower = new Replica(FINGERPRINT, time, Runnable::run, line -> {});
    GroupCalendar none =
        new GroupCalendar(3, ledger, lower, time, new WallClock(wall, SECOND), log::add);
    wall.advance(400 * MILLI);
    none.check();
    wall.advance(DAY);
    none.check();
    assertThat(ledger.entries).isEmpty();
    assertThat(log).isEmpty();
    assertThat(none.set(wall.nanos()).toCompletableFuture().handle((reply, error) -> error).join())
        .hasMessageContaining("group 3 is at level 1 (expected: at least 2");
    assertThatThrownBy(() -> lower.apply(1, Entry.calendar(wall.nanos())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("calendar at level 1 (expected: at least 2)");
    assertThat(lower.store().calendarOffsetNanos()).isZero();
  }

  @Test
  void entryBeyondTheHorizon_makesNoSense() {
    byte[] reply = ledger.append(Entry.calendar(Long.MAX_VALUE)).toCompletableFuture().join();
    assertThat(reply).isEmpty();
    assertThat(replica.store().calendarOffsetNanos()).isZero();
  }
}
