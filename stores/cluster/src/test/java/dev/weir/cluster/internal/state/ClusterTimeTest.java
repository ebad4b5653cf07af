package dev.weir.cluster.internal.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ClusterTimeTest {
  private static final long MICRO = 1_000;

  /** A member with a clock of its own, and its progress in the log. */
  private static final class Member {
    final Ticker ticker;
    ClusterTime time;
    int applied;

    Member(FakeTicker real, long offset, double rate) {
      this.ticker = () -> offset + (long) (real.nanos() * rate);
      this.time = new ClusterTime(ticker);
    }
  }

  private record Stamped(long nanos, long realNanos) {}

  /**
   * Members with clocks that show anything and run at any rate, leaders that change and lose
   * entries, entries that are applied at any time, members that restart: between two entries of the
   * log at most as much time passes as between their stampings, by the fastest clock.
   */
  @Test
  void time_neverRunsFast() {
    int runs = 300;
    SplittableRandom random = Trials.random("cluster time", runs);
    for (int run = 0; run < runs; run++) {
      List<Stamped> log = run(random.split());
      long least = Long.MAX_VALUE; // Least stamp less time of the fastest clock so far.
      long before = Long.MIN_VALUE;
      for (Stamped each : log) {
        long ahead = each.nanos - each.realNanos - each.realNanos / 1_000;
        least = Math.min(least, ahead);
        assertThat(ahead - least).as("in run %d", run).isLessThanOrEqualTo(MICRO + 3);
        assertThat(each.nanos).isGreaterThanOrEqualTo(before);
        assertThat(each.nanos % MICRO).isZero();
        before = each.nanos;
      }
    }
  }

  private static List<Stamped> run(SplittableRandom random) {
    FakeTicker real = new FakeTicker(random.nextLong(1L << 40));
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      double rate = random.nextInt(4) == 0 ? 0.2 : 1 + (random.nextDouble() - 0.5) * 2e-3;
      members.add(new Member(real, (random.nextLong() >> 3) - (1L << 58), rate));
    }
    List<Stamped> log = new ArrayList<>();
    List<Stamped> decided = new ArrayList<>();
    Member leader = members.get(0);
    int committed = 0;
    long term = 1;
    for (int step = 0; step < 400; step++) {
      real.advance(random.nextLong(random.nextInt(10) == 0 ? 1_000_000_000 : 10_000));
      Member any = members.get(random.nextInt(members.size()));
      switch (random.nextInt(8)) {
        case 0 -> { // Another one leads; uncommitted entries are lost, and it applies the rest.
          log.subList(committed, log.size()).clear();
          leader = any;
          term++;
          apply(leader, log, log.size(), decided);
        }
        case 1 -> { // It restarts, from an image or from nothing.
          any.time = new ClusterTime(any.ticker);
          boolean image = any.applied > 0 && random.nextBoolean();
          if (image) {
            any.time.restore(decided.get(any.applied - 1).nanos);
          } else {
            int applied = any.applied;
            any.applied = 0;
            apply(any, log, applied, decided);
          }
          if (any == leader) {
            log.subList(committed, log.size()).clear();
            term++;
            apply(leader, log, log.size(), decided);
          }
        }
        case 2, 3 -> apply(any, log, random.nextInt(any.applied, committed + 1), decided);
        case 4 -> committed = random.nextInt(committed, log.size() + 1);
        default -> {
          byte[] entry = Entry.probe();
          Entry.stamp(entry, leader.time.stamp(term));
          log.add(new Stamped(new ByteReader(entry, 0).readLong(), real.nanos()));
        }
      }
      committed = Math.max(committed, members.stream().mapToInt(m -> m.applied).max().orElse(0));
    }
    apply(leader, log, log.size(), decided);
    return decided;
  }

  /** Applies entries up to one; checks that they get the same instants everywhere. */
  private static void apply(Member member, List<Stamped> log, int end, List<Stamped> decided) {
    for (; member.applied < end; member.applied++) {
      Stamped entry = log.get(member.applied);
      Stamped now = new Stamped(member.time.apply(entry.nanos), entry.realNanos);
      if (member.applied == decided.size()) {
        decided.add(now);
      }
      assertThat(now).isEqualTo(decided.get(member.applied));
    }
  }

  @Test
  void stampBehindAnEarlierOne_isDecidedAtThatOne() {
    ClusterTime time = new ClusterTime(new FakeTicker());
    assertThat(time.apply(5_000)).isEqualTo(5_000);
    assertThat(time.apply(3_000)).isEqualTo(5_000);
    assertThat(time.apply(6_000)).isEqualTo(6_000);
  }

  @Test
  void tickerThatGoesBack_stopsTheTime() {
    FakeTicker ticker = new FakeTicker(10_000_000);
    ClusterTime time = new ClusterTime(ticker);
    long first = time.stamp(1);
    ticker.set(2_000_000);
    assertThat(time.stamp(1)).isEqualTo(first);
    time.apply(first);
    ticker.set(1_000_000);
    assertThat(time.nowNanos()).isEqualTo(first);
  }

  @Test
  void firstTime_isTheTickers() {
    FakeTicker ticker = new FakeTicker(1_234_567);
    ClusterTime time = new ClusterTime(ticker);
    assertThat(time.nowNanos()).isEqualTo(1_234_000);
    assertThat(time.stamp(1)).isEqualTo(1_234_000);
    ticker.advance(1_500);
    assertThat(time.stamp(1)).isEqualTo(1_235_000);
  }
}
