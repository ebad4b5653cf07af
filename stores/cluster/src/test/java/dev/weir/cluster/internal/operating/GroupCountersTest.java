package dev.weir.cluster.internal.operating;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cluster.ClusterMetrics;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.testkit.FakeTicker;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class GroupCountersTest {
  private final FakeTicker ticker = new FakeTicker();
  private final GroupCounters counters = new GroupCounters(ticker);

  private static Ledger.Status log(long committed, long applied) {
    return new Ledger.Status("a", 3, committed, applied);
  }

  @Test
  void lag_isTheAgeOfTheOldestEntryThatWaits() {
    counters.record(log(5, 5));
    ticker.advance(1_000);
    assertThat(counters.lagNanos(5)).isZero();
    counters.record(log(8, 5));
    ticker.advance(1_000);
    counters.record(log(20, 6));
    ticker.advance(500);
    assertThat(counters.lagNanos(6)).isEqualTo(1_500);
    assertThat(counters.lagNanos(8)).isEqualTo(500);
    assertThat(counters.lagNanos(20)).isZero();
  }

  @Test
  void lagOfAnHour_isBounded_andEndsWhenTheReplicaHasCaughtUp() {
    for (int second = 0; second < 3_600; second++) {
      counters.record(log(2 + second, 1));
      ticker.advance(1);
    }
    assertThat(counters.lagNanos(1)).isEqualTo(3_600);
    assertThat(counters.lagNanos(10_000)).isZero();
  }

  @Test
  void entries_areCountedByWhatBecameOfThem() {
    long begun = counters.begin();
    ticker.advance(10_000);
    counters.received(7, 2);
    counters.appended(begun, null);
    counters.appended(
        begun, new CompletionException(new LedgerException(Outcome.OVERLOADED, null, "")));
    counters.appended(begun, new IllegalStateException());
    counters.undecided(Outcome.NOT_LEADER);
    ClusterMetrics.GroupMetrics now = counters.metrics(4, true, false, log(9, 9), 77, -5, 8, 6, 7);
    assertThat(now.group()).isEqualTo(4);
    assertThat(now.term()).isEqualTo(3);
    assertThat(now.logBytes()).isEqualTo(77);
    assertThat(now.clockLagNanos()).isEqualTo(-5);
    assertThat(now.clockFaults()).isEqualTo(8);
    assertThat(now.refusedEarly()).isEqualTo(2);
    assertThat(now.charges().sum()).isEqualTo(7);
    assertThat(now.commits().sum()).isEqualTo(10_000);
    assertThat(now.undecided())
        .containsEntry("overloaded", 1L)
        .containsEntry("unknown", 1L)
        .containsEntry("not_leader", 1L);
  }
}
