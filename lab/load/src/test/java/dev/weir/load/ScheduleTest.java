package dev.weir.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** A test of schedule and lane, on time that stands still until a test moves it. */
class ScheduleTest {
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final FakeTicker ticker = new FakeTicker();

  /** A client that records which slots were sent, and answers nothing by itself. */
  private static final class HandClient implements DoorClient {
    final List<Integer> sent = new ArrayList<>();
    final List<Integer> expired = new ArrayList<>();
    int writes;

    @Override
    public void send(int slot, long key) {
      sent.add(slot);
    }

    @Override
    public void flush() {
      writes++;
    }

    @Override
    public void expire(int slot) {
      expired.add(slot);
    }

    @Override
    public void close() {}
  }

  private final HandLoop loop = new HandLoop();
  private final HandClient client = new HandClient();

  private Lane lane(Schedule schedule, LoopTally tally, int slots) {
    KeyDraw keys = new KeyDraw(KeyDraw.Kind.UNIFORM, 10, 0, 0, new AtomicLong());
    Lane lane = new Lane(loop, schedule, tally, keys, ticker, slots);
    lane.up(client);
    schedule.begin(ticker.nanos());
    lane.fill();
    return lane;
  }

  private static Histogram latencies(LoopTally tally) {
    Histogram all = new Histogram(1, LoopTally.HIGHEST_NANOS, LoopTally.DIGITS);
    tally.drainInto(all, new Histogram(1, LoopTally.HIGHEST_NANOS, LoopTally.LATE_DIGITS));
    return all;
  }

  @Test
  void open_serverThatStallsOnce_chargesTheStallToEveryRequestThatWasDue() {
    Schedule schedule = new OpenSchedule(1_000, 0, SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 1);
    assertThat(client.sent).hasSize(1);

    // The first answer takes 100 ms; the next 100 are due meanwhile and take 0.5 ms each.
    ticker.advance(100 * MILLI);
    lane.answered(0, true, ticker.nanos());
    for (int i = 0; i < 100; i++) {
      ticker.advance(MILLI / 2);
      lane.answered(0, true, ticker.nanos());
    }

    // Request i was due at i ms and answered at 100 + i / 2 ms.
    Histogram latency = latencies(tally);
    assertThat(latency.getTotalCount()).isEqualTo(101);
    assertThat(latency.getMinValue()).isCloseTo(50 * MILLI, within(MILLI / 10));
    assertThat(latency.getValueAtPercentile(50)).isCloseTo(75 * MILLI, within(MILLI));
    assertThat(latency.getMaxValue()).isCloseTo(100 * MILLI, within(MILLI / 10));
  }

  @Test
  void closed_sameServer_chargesTheStallToOneRequest() {
    Schedule schedule = new ClosedSchedule(0, SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 1);

    ticker.advance(100 * MILLI);
    lane.answered(0, true, ticker.nanos());
    for (int i = 0; i < 100; i++) {
      ticker.advance(MILLI / 2);
      lane.answered(0, false, ticker.nanos());
    }

    assertThat(latencies(tally).getValueAtPercentile(50)).isCloseTo(MILLI / 2, within(MILLI / 100));
    assertThat(tally.counts().allowed()).isEqualTo(1);
    assertThat(tally.counts().denied()).isEqualTo(100);
  }

  @Test
  void open_claimsFollowTheTimesAndNothingElse() {
    OpenSchedule schedule = new OpenSchedule(3, 0, SECOND);
    assertThat(schedule.claim(Long.MAX_VALUE)).as("before it begins").isEqualTo(Schedule.NONE);
    schedule.begin(50);

    assertThat(schedule.claim(49)).isEqualTo(Schedule.NONE);
    assertThat(schedule.claim(50)).isEqualTo(50);
    assertThat(schedule.claim(50)).isEqualTo(Schedule.NONE);
    assertThat(schedule.nextNanos(50)).isEqualTo(333_333_383);
    assertThat(schedule.claim(SECOND)).isEqualTo(333_333_383);
    assertThat(schedule.claim(SECOND)).isEqualTo(666_666_716);
    assertThat(schedule.claim(SECOND + 49)).isEqualTo(Schedule.NONE);
    assertThat(schedule.claim(SECOND + 50)).as("due at the end").isEqualTo(Schedule.NONE);
  }

  @Test
  void open_afterTheEnd_nothingThatWaitsIsSent() {
    OpenSchedule schedule = new OpenSchedule(1_000, 0, SECOND);
    schedule.begin(0);

    assertThat(schedule.claim(SECOND - 1)).isZero();
    assertThat(schedule.claim(SECOND + OpenSchedule.GRACE_NANOS - 1)).isEqualTo(MILLI);
    assertThat(schedule.claim(SECOND + OpenSchedule.GRACE_NANOS)).isEqualTo(Schedule.NONE);
    assertThat(schedule.unclaimed()).isEqualTo(998);
  }

  @Test
  void open_whatTheWarmUpLeftOver_isDropped() {
    OpenSchedule schedule = new OpenSchedule(1_000, SECOND, 2 * SECOND);
    schedule.begin(7);
    for (int i = 0; i < 10; i++) {
      assertThat(schedule.claim(6 + SECOND)).isEqualTo(7 + i * MILLI);
    }
    assertThat(schedule.unclaimed()).isEqualTo(2_000);

    assertThat(schedule.claim(7 + SECOND + 5 * MILLI)).isEqualTo(7 + SECOND);
    assertThat(schedule.unclaimed()).isEqualTo(1_999);
  }

  @Test
  void open_endedEarly_nothingMoreIsDue() {
    OpenSchedule schedule = new OpenSchedule(1_000, SECOND, 2 * SECOND);
    schedule.begin(0);
    for (int i = 0; i < 500; i++) {
      schedule.claim(2 * SECOND);
    }

    schedule.end(2 * SECOND);

    assertThat(schedule.unclaimed()).isEqualTo(500);
    assertThat(schedule.claim(2 * SECOND + OpenSchedule.GRACE_NANOS)).isEqualTo(Schedule.NONE);

    OpenSchedule warming = new OpenSchedule(1_000, SECOND, 2 * SECOND);
    warming.begin(0);
    warming.end(SECOND / 2);
    assertThat(warming.unclaimed()).isZero();
  }

  @Test
  void open_longestAndFastest_staysInRange() {
    OpenSchedule schedule = new OpenSchedule(10_000_000, 0, TimeUnit.HOURS.toNanos(1));
    schedule.begin(1_800_000_000_000_000_000L);

    assertThat(schedule.unclaimed()).isEqualTo(36_000_000_000L);
  }

  @Test
  void warmUp_isNotMeasured() {
    Schedule schedule = new ClosedSchedule(SECOND, SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 1);

    ticker.set(SECOND - 1);
    lane.answered(0, true, ticker.nanos());
    ticker.set(SECOND);
    lane.answered(0, true, ticker.nanos());
    assertThat(tally.counts().answered()).isZero();
    ticker.set(SECOND + 1);
    lane.answered(0, true, ticker.nanos());

    assertThat(tally.counts().answered()).isEqualTo(1);
  }

  @Test
  void freeSlot_isWokenWhenARequestIsDue() {
    Schedule schedule = new OpenSchedule(1_000, 0, SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 2);
    assertThat(client.sent).hasSize(1);
    assertThat(lane.busy()).isEqualTo(1);

    assertThat(lane.offer(ticker.nanos())).as("has room, though nothing is due").isTrue();
    assertThat(client.sent).hasSize(1);
    ticker.advance(MILLI);
    assertThat(lane.offer(ticker.nanos())).isTrue();

    assertThat(client.sent).containsExactly(0, 1);
    assertThat(lane.offer(ticker.nanos())).as("has no room").isFalse();
  }

  @Test
  void dueTogether_goOutInOneWriteOnOneLaneAndTheNextOnAnother() {
    Schedule schedule = new OpenSchedule(1_000, 0, SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    KeyDraw keys = new KeyDraw(KeyDraw.Kind.UNIFORM, 10, 0, 0, new AtomicLong());
    LaneRing ring = new LaneRing(loop, schedule, tally);
    HandClient other = new HandClient();
    for (HandClient each : List.of(client, other)) {
      Lane lane = new Lane(loop, schedule, tally, keys, ticker, 4);
      lane.up(each);
      ring.add(lane);
    }
    schedule.begin(ticker.nanos());

    ticker.advance(2 * MILLI);
    ring.send(ticker.nanos());
    assertThat(client.sent).containsExactly(0, 1, 2);
    assertThat(client.writes).isEqualTo(1);
    assertThat(other.sent).isEmpty();

    ticker.advance(5 * MILLI);
    ring.send(ticker.nanos());
    assertThat(other.sent).containsExactly(0, 1, 2, 3);
    assertThat(other.writes).isEqualTo(1);
    assertThat(client.sent).as("what had no room there").containsExactly(0, 1, 2, 3);
  }

  @Test
  void open_notice_isHowLateEachMeasuredRequestWasSeen_andEachOnce() {
    OpenSchedule schedule = new OpenSchedule(1_000, 2 * MILLI, 3 * MILLI);
    List<Long> late = new ArrayList<>();
    schedule.reportLate(SECOND, late::add);
    assertThat(late).as("before it begins").isEmpty();
    schedule.begin(0);

    schedule.reportLate(MILLI, late::add);
    assertThat(late).as("of the warm-up").isEmpty();
    schedule.reportLate(3 * MILLI + 7, late::add);
    assertThat(late).containsExactly(MILLI + 7, 7L);
    schedule.reportLate(3 * MILLI + 8, late::add);
    schedule.reportLate(SECOND, late::add);
    assertThat(late).containsExactly(MILLI + 7, 7L, SECOND - 4 * MILLI);
  }

  @Test
  void longestGap_isBetweenAdmissionsOfMeasuredRequests_orBeforeTheEnd() {
    Schedule schedule = new ClosedSchedule(SECOND, SECOND);
    AdmissionGap gap = new AdmissionGap();
    LoopTally tally = new LoopTally(schedule, gap);
    schedule.begin(0);
    gap.begin(SECOND);

    tally.answered(0, SECOND / 2, true);
    tally.answered(SECOND, SECOND + 100 * MILLI, true);
    tally.answered(SECOND, SECOND + 200 * MILLI, false);
    tally.answered(SECOND, SECOND + 350 * MILLI, true);
    assertThat(gap.longestNanos(SECOND + 400 * MILLI)).isEqualTo(250 * MILLI);
    assertThat(gap.longestNanos(2 * SECOND)).isEqualTo(650 * MILLI);
  }

  @Test
  void unansweredRequest_isGivenUpAfterItsTime() {
    Schedule schedule = new ClosedSchedule(0, 100 * SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 2);

    ticker.advance(Lane.TIMEOUT_NANOS - 1);
    lane.sweep();
    assertThat(client.expired).isEmpty();
    lane.answered(1, true, ticker.nanos());
    ticker.advance(1);
    lane.sweep();
    assertThat(client.expired).containsExactly(0);
    lane.lost(0, Lane.TIMEOUT);

    assertThat(tally.counts().errors()).containsOnly(Map.entry("timeout", 1L));
    assertThat(client.sent).containsExactly(0, 1, 1);
    assertThat(loop.later).hasSize(1);
    loop.later.remove().run();
    assertThat(client.sent).as("the slot works again").containsExactly(0, 1, 1, 0);
  }

  @Test
  void lostConnection_startsAgainWhenItIsBack() {
    Schedule schedule = new ClosedSchedule(0, 100 * SECOND);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    Lane lane = lane(schedule, tally, 2);

    lane.down();
    lane.lost(0, "connection closed");
    lane.lost(1, "connection closed");
    loop.later.remove().run();
    assertThat(client.sent).hasSize(2);
    lane.up(client);
    loop.later.remove().run();

    assertThat(client.sent).containsExactly(0, 1, 0, 1);
    assertThat(tally.counts().lostConnections()).isEqualTo(1);
    assertThat(tally.counts().failed()).isEqualTo(2);
  }

  @Test
  void errors_ofManyKinds_areBounded() {
    Schedule schedule = new ClosedSchedule(0, SECOND);
    schedule.begin(0);
    LoopTally tally = new LoopTally(schedule, new AdmissionGap());
    for (int i = 0; i < 100; i++) {
      tally.failed(0, "kind " + i + " " + "x".repeat(1_000));
    }

    assertThat(tally.counts().errors())
        .hasSize(LoopTally.MAX_KINDS)
        .containsEntry(LoopTally.OTHER, 85L);
    assertThat(tally.counts().failed()).isEqualTo(100);
    assertThat(tally.counts().errors().keySet())
        .allMatch(kind -> kind.length() <= LoopTally.MAX_KIND_LENGTH);
  }
}
