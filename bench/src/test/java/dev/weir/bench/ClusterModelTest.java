package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.bench.ClusterCosts.Cost;
import dev.weir.bench.ClusterCosts.Counts;
import dev.weir.bench.ClusterCosts.Flush;
import dev.weir.bench.ClusterCosts.Taken;
import dev.weir.bench.ClusterModel.Outcome;
import dev.weir.bench.ClusterModel.Setting;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterModelTest {
  private static final double SECONDS = 0.5;
  private static final int CONNECTIONS = 4;
  private static final double FLAT_OUT = Double.POSITIVE_INFINITY;

  private static Map<ClusterStage, Cost> each(Cost cost) {
    Map<ClusterStage, Cost> all = new EnumMap<>(ClusterStage.class);
    for (ClusterStage stage : ClusterStage.values()) {
      all.put(stage, cost);
    }
    return all;
  }

  private static ClusterCosts costs(double onceNanos, double decisionNanos) {
    return costs(each(new Cost(onceNanos, decisionNanos)), 1e6);
  }

  private static ClusterCosts costs(Map<ClusterStage, Cost> stages, double collectionNanos) {
    return new ClusterCosts(
        stages,
        stages,
        new Cost(5_000, 100),
        550_000,
        new Flush(100_000, 20_000),
        collectionNanos,
        10_000);
  }

  private static Outcome here(
      ClusterCosts costs, int groups, int processors, double perSecond, int inFlight) {
    return ClusterModel.run(
        costs,
        new Setting(groups, processors, false, 0, perSecond, inFlight, CONNECTIONS),
        1,
        SECONDS);
  }

  @Test
  void openLoadThatIsCarried_isAnsweredAsItCame() {
    Outcome got = here(costs(5_000, 200), 1, 4, 10_000, 1 << 18);

    assertThat(got.perSecond()).isCloseTo(10_000, within(200.0));
    assertThat(got.busiest()).isBetween(0.01, 0.9);
  }

  @Test
  void twiceTheCost_isHalfTheRateOnProcessorsThatAreAllTaken() {
    double once = here(costs(5_000, 2_000), 1, 2, FLAT_OUT, 1_000).perSecond();
    double twice = here(costs(10_000, 4_000), 1, 2, FLAT_OUT, 1_000).perSecond();

    assertThat(twice).isCloseTo(once / 2, within(once / 10));
  }

  @Test
  void anAnswer_takesAtLeastBothFlushesHopsAndThreads() {
    Outcome got =
        ClusterModel.run(
            costs(5_000, 200),
            new Setting(1, 16, true, 1_000_000, 100, 1 << 18, CONNECTIONS),
            1,
            SECONDS);

    // To the leader and back for most, to a follower and back for all, and one flush each.
    assertThat(got.p50Millis()).isGreaterThan(4.1).isLessThan(10);
  }

  @Test
  void moreGroups_haveFewerDecisionsInAnEntry() {
    ClusterCosts costs = costs(5_000, 200);
    double one = here(costs, 1, 2, 20_000, 1 << 18).inEntry();
    double four = here(costs, 4, 2, 20_000, 1 << 18).inEntry();

    assertThat(four).isLessThan(one);
  }

  /** A connection that waits for four groups waits for the slowest of them. */
  @Test
  void moreGroups_answerLaterThoughProcessorsAreIdle() {
    ClusterCosts costs = costs(1_000, 1);
    double one = here(costs, 1, 64, FLAT_OUT, 100).p50Millis();
    double four = here(costs, 4, 64, FLAT_OUT, 100).p50Millis();

    assertThat(four).isGreaterThan(one);
  }

  /** As a batch of a shared store is one call. */
  @Test
  void whatComesTogether_isDecidedByOneCall() {
    Outcome got =
        ClusterModel.run(
            costs(1_000, 10), new Setting(1, 64, false, 0, FLAT_OUT, 3 * 20, 1), 1, SECONDS);

    assertThat(got.inEntry() / got.callsInEntry()).isCloseTo(20, within(0.5));
  }

  @Test
  void moreConnections_haveMoreUnderWayInEachGroup() {
    ClusterCosts costs = costs(5_000, 200);
    double few =
        ClusterModel.run(costs, new Setting(4, 2, false, 0, FLAT_OUT, 4_000, 1), 1, SECONDS)
            .inEntry();
    double many =
        ClusterModel.run(costs, new Setting(4, 2, false, 0, FLAT_OUT, 4_000, 16), 1, SECONDS)
            .inEntry();

    assertThat(many).isGreaterThan(few);
  }

  /** They take a tenth of the time, in many parts or in few. */
  @Test
  void longCollections_makeSomeWaitForLonger() {
    Map<ClusterStage, Cost> stages = each(new Cost(5_000, 200));
    stages.put(ClusterStage.COLLECT, new Cost(0, 5_000));
    double often = here(costs(stages, 1e6), 1, 8, 20_000, 1 << 18).p99Millis();
    double seldom = here(costs(stages, 30e6), 1, 8, 20_000, 1 << 18).p99Millis();

    assertThat(seldom).isGreaterThan(often + 15);
  }

  @Test
  void costThroughTwoRuns_explainsBoth() {
    Cost cost = Cost.through(10, 6_000, 100, 15_000);

    assertThat(cost.of(10)).isCloseTo(6_000, within(1e-6));
    assertThat(cost.of(100)).isCloseTo(15_000, within(1e-6));
    assertThat(Cost.through(10, 1_000, 100, 90_000).onceNanos()).isZero();
    assertThat(Cost.through(10, 9_000, 100, 5_000).decisionNanos()).isZero();
    assertThat(Cost.through(10, 9_000, 10, 5_000)).isEqualTo(new Cost(7_000, 0));
  }

  @Test
  void whatAMemberDid_isCountedByStage() {
    Counts counts = new Counts(100, 300, 600, 3_000, 5);

    assertThat(counts.taken(ClusterStage.DOOR, true, 1)).isEqualTo(new Taken(200, 1_000, 1));
    assertThat(counts.taken(ClusterStage.LOG, false, 1)).isEqualTo(new Taken(100, 3_000, 1));
    assertThat(counts.taken(ClusterStage.ASKING, true, 1)).isEqualTo(new Taken(300, 3_000, 1));
    assertThat(counts.taken(ClusterStage.ASKING, false, 1)).isEqualTo(new Taken(100, 1_000, 1));
    assertThat(counts.taken(ClusterStage.OTHER, true, 1)).isEqualTo(new Taken(5, 3_000, 1));
    // An entry and its answer, a call and its reply.
    assertThat(counts.taken(ClusterStage.PEER, false, 1)).isEqualTo(new Taken(400, 5_000, 1));
    assertThat(counts.taken(ClusterStage.PEER, true, 1)).isEqualTo(new Taken(800, 10_000, 1));
  }

  @Test
  void flushesAtOnce_takeLonger() {
    assertThat(new Flush(100, 20).of(0)).isEqualTo(100);
    assertThat(new Flush(100, 20).of(2)).isEqualTo(140);
  }
}
