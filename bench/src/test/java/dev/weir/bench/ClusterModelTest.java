package dev.weir.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.weir.bench.ClusterCosts.Cost;
import dev.weir.bench.ClusterModel.Outcome;
import dev.weir.bench.ClusterModel.Setting;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterModelTest {
  private static final double SECONDS = 0.5;

  private static Map<ClusterStage, Cost> each(double entryNanos, double decisionNanos) {
    Map<ClusterStage, Cost> all = new EnumMap<>(ClusterStage.class);
    for (ClusterStage stage : ClusterStage.values()) {
      all.put(stage, new Cost(entryNanos, decisionNanos));
    }
    return all;
  }

  private static ClusterCosts costs(double entryNanos, double decisionNanos) {
    return new ClusterCosts(
        each(entryNanos, decisionNanos), each(entryNanos, decisionNanos), 100, 100_000, 10_000);
  }

  private static Outcome flatOut(ClusterCosts costs, int processors) {
    return ClusterModel.run(
        costs, new Setting(1, processors, false, 0, Double.POSITIVE_INFINITY, 1_000), SECONDS);
  }

  @Test
  void openLoadThatIsCarried_isAnsweredAsItCame() {
    Outcome got =
        ClusterModel.run(costs(5_000, 200), new Setting(1, 4, false, 0, 10_000, 1 << 18), SECONDS);

    assertThat(got.perSecond()).isCloseTo(10_000, within(200.0));
    assertThat(got.busiest()).isBetween(0.01, 0.9);
  }

  @Test
  void twiceTheCost_isHalfTheRateOnProcessorsThatAreAllTaken() {
    double once = flatOut(costs(5_000, 2_000), 2).perSecond();
    double twice = flatOut(costs(10_000, 4_000), 2).perSecond();

    assertThat(twice).isCloseTo(once / 2, within(once / 10));
  }

  @Test
  void anAnswer_takesAtLeastBothFlushesHopsAndThreads() {
    Outcome got =
        ClusterModel.run(
            costs(5_000, 200), new Setting(1, 16, true, 1_000_000, 1_000, 1 << 18), SECONDS);

    // To the leader and back for most, to a follower and back for all, and one flush each.
    assertThat(got.p50Millis()).isGreaterThan(4.1).isLessThan(10);
  }

  @Test
  void moreGroups_haveFewerDecisionsInAnEntry() {
    ClusterCosts costs = costs(5_000, 200);
    double one =
        ClusterModel.run(costs, new Setting(1, 2, false, 0, 20_000, 1 << 18), SECONDS).inEntry();
    double four =
        ClusterModel.run(costs, new Setting(4, 2, false, 0, 20_000, 1 << 18), SECONDS).inEntry();

    assertThat(four).isLessThan(one);
  }

  @Test
  void costThroughTwoRuns_explainsBoth() {
    Cost cost = Cost.through(10, 6_000, 100, 15_000);

    assertThat(cost.of(10)).isCloseTo(6_000, within(1e-6));
    assertThat(cost.of(100)).isCloseTo(15_000, within(1e-6));
    assertThat(Cost.through(10, 1_000, 100, 90_000).entryNanos()).isZero();
    assertThat(Cost.through(10, 9_000, 100, 5_000).decisionNanos()).isZero();
  }
}
