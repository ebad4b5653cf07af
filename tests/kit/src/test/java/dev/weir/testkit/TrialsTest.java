package dev.weir.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Policy;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrialsTest {
  @Test
  void minimal_leavesOnlyWhatIsNeededToFail() {
    List<Integer> all = IntStream.range(0, 200).boxed().toList();

    assertThat(Shrinker.minimal(all, list -> list.contains(17) && list.contains(151)))
        .containsExactly(17, 151);
    assertThat(Shrinker.minimal(all, list -> list.stream().mapToInt(i -> i).sum() >= 199))
        .satisfies(list -> assertThat(list.size()).isBetween(1, 3));
    assertThat(Shrinker.minimal(all, list -> true)).isEmpty();
    assertThatThrownBy(() -> Shrinker.minimal(all, list -> false))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void failingTrial_isShownShortWithItsSeed() {
    assertThatThrownBy(
            () ->
                Trials.run(
                    "wanted failure",
                    3,
                    random ->
                        new Trials.Trial<>(
                            "a title",
                            IntStream.range(0, 50).boxed().toList(),
                            list -> assertThat(list).doesNotContain(31))))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dweir.seed=" + Trials.SEED)
        .hasMessageContaining("a title")
        .hasMessageContaining(String.format("   1  31%n"))
        .hasMessageNotContaining("   2  ");
  }

  @Test
  void sameSeed_sameTraffic() {
    for (Algorithm algorithm : Algorithm.values()) {
      Policy policy = Traffic.policy(new SplittableRandom(7), algorithm);
      List<GeneratedRequest> one = Traffic.of(new SplittableRandom(9), policy, 100, 1_000);
      List<GeneratedRequest> two = Traffic.of(new SplittableRandom(9), policy, 100, 1_000);

      assertThat(one).hasSize(100).isEqualTo(two);
      assertThat(policy.algorithm()).isEqualTo(algorithm);
    }
  }

  @Test
  void line_namesTheRunsAndTheirNumber() {
    assertThat(Trials.line("one of two: words", 1)).isEqualTo("one of two: words: 1 run");
    assertThat(Trials.line("many", 20_000)).isEqualTo("many: 20000 runs");
    assertThat(Trials.line("none", 0)).isEqualTo("none: 0 runs");
  }

  @Test
  void runs_areASampleUnlessAllAreAskedFor() {
    assertThat(Trials.runs("sample", 400, 2_000)).isEqualTo(400);
    assertThat(Trials.runs("full", 400, 2_000)).isEqualTo(2_000);
    assertThat(Trials.runs("long", 400, 2_000)).isEqualTo(8_000);
    assertThat(Trials.runs(3, 3)).isEqualTo(3);
    assertThatThrownBy(() -> Trials.runs("all", 400, 2_000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("weir.tests: all (expected: sample, full or long)");
    for (int sample : new int[] {0, 6}) {
      assertThatThrownBy(() -> Trials.runs("full", sample, 5))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("sample: %d (expected: 1..5)", sample);
    }
  }
}
