package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.replay.internal.judge.KeyUse;
import dev.weir.traffic.TrafficException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A test of soft and elastic rules on recorded traffic, and of the loads recorded in it. */
class ThrottledReplayTest {
  @TempDir Path folder;

  private Trial trial;

  @BeforeEach
  void fresh() throws Exception {
    trial = new Trial(folder);
  }

  private Trial rules(String throttle) throws Exception {
    return trial.rulesText(
        """
        domain: d
        descriptors:
          - key: key
            rate_limit: {unit: minute, requests_per_unit: 2, throttle: %s}
        """
            .formatted(throttle));
  }

  private List<String> reasons() throws Exception {
    return trial.rows().stream().map(Trial.Row::reason).toList();
  }

  @Test
  void softRule_isHeldAtItsBound_andWhatIsBeyondTheLimitIsTold() throws Exception {
    ReplaySummary summary =
        rules("{soft: 50%}").input("in.csv", "time,k\n" + "1,a\n".repeat(5)).run();
    assertThat(reasons())
        .containsExactly("WITHIN_LIMIT", "WITHIN_LIMIT", "TOLERATED", "OVER_LIMIT", "OVER_LIMIT");
    assertThat(summary.counts().tolerated()).isEqualTo(1);
    assertThat(summary.counts().denied()).isEqualTo(2);
    ReplaySummary.PolicyCount policy = summary.policies().get(0);
    assertThat(policy.bound()).isEqualTo(3);
    assertThat(policy.tolerated()).isEqualTo(1);
    assertThat(summary.text())
        .contains("tolerated beyond a limit  1")
        .containsPattern("d\\.key +soft 50% +3 +1\n");
    assertThat(summary.json())
        .contains("\"throttle\" : \"soft 50%\"", "\"bound\" : 3", "\"tolerated\" : 1");
  }

  @ParameterizedTest
  @CsvSource({"0.69, 0.7, -, 0.5", "69%, 70%, '', 50.0%", "0, 1, -, 0.699999", "0, 250%, -, 0"})
  void elasticRule_listensToAColumn(String low, String high, String unknown, String idle)
      throws Exception {
    String input =
        "time,k,cpu\n"
            + "1,a,1\n1,a,1\n" // The limit is used up.
            + "2,a,%s\n3,a,%s\n4,a,%s\n5,a,%s\n".formatted(low, high, unknown, idle);
    ReplaySummary summary =
        rules("elastic").input("in.csv", input).options(o -> o.load("{cpu}")).run();
    assertThat(reasons())
        .containsExactly(
            "WITHIN_LIMIT", "WITHIN_LIMIT", "TOLERATED", "OVER_LIMIT", "OVER_LIMIT", "TOLERATED");
    assertThat(summary.counts().tolerated()).isEqualTo(2);
    assertThat(Trial.ruleWarnings(summary)).isEmpty();
  }

  @Test
  void columnOfLoads_isSortedWithItsRecords() throws Exception {
    rules("elastic")
        .input("in.csv", "time,k,cpu\n4,a,0\n1,a,1\n2,a,1\n3,a,1\n")
        .options(o -> o.load("{cpu}"))
        .traffic(t -> t.sort(true))
        .run();
    assertThat(reasons())
        .containsExactly("WITHIN_LIMIT", "WITHIN_LIMIT", "OVER_LIMIT", "TOLERATED");
  }

  @Test
  void elasticRule_listensToTheOfferedRate() throws Exception {
    // Full load is 4 in 10 s: hard from 2 on, which the third request and the fifth reach.
    ReplaySummary summary =
        rules("{elastic: 75%}")
            .input("in.csv", "time,k\n1,a\n2,a\n3,a\n13,a\n14,a\n15,a\n")
            .options(o -> o.load("4/10s"))
            .run();
    assertThat(reasons())
        .containsExactly(
            "WITHIN_LIMIT", "WITHIN_LIMIT", "OVER_LIMIT", "TOLERATED", "TOLERATED", "OVER_LIMIT");
    assertThat(summary.counts().denied()).isEqualTo(2);
  }

  @Test
  void elasticRuleWithoutALoad_isHard_andSaysSo() throws Exception {
    ReplaySummary summary = rules("elastic").input("in.csv", "time,k\n1,a\n1,a\n1,a\n").run();
    assertThat(reasons()).containsExactly("WITHIN_LIMIT", "WITHIN_LIMIT", "OVER_LIMIT");
    assertThat(Trial.ruleWarnings(summary))
        .singleElement()
        .asString()
        .endsWith(
            "throttle: elastic, but no load is given (expected: --load; without, it is hard)");
    assertThat(Trial.ruleWarnings(rules("hard").options(o -> o.load("4/10s")).run()))
        .containsExactly("load: given, but no rule of the domain is elastic (it has no effect)");
  }

  @ParameterizedTest
  @ValueSource(strings = {"200", "200/s", "0/1s", "200/0s", "200/1y", "200/9999h", "{", "cpu"})
  void loadThatIsNone_isRefused(String load) {
    assertThatThrownBy(
            () -> rules("elastic").input("in.csv", "time,k\n").options(o -> o.load(load)).run())
        .isInstanceOf(TrafficException.class)
        .hasMessageContaining("load: ");
  }

  @Test
  void recordWhoseLoadIsNone_isUnreadable() throws Exception {
    ReplaySummary summary =
        rules("elastic")
            .input("in.csv", "time,k,cpu\n1,a,high\n2,a,-1\n3,a,0.5\n")
            .options(o -> o.load("{cpu}"))
            .run();
    assertThat(summary.counts().unreadable()).isEqualTo(2);
    assertThat(summary.unreadableLines().get(0).reason())
        .isEqualTo("load: \"high\" (expected: a share such as 0.4 or 40%)");
    assertThatThrownBy(() -> trial.options(o -> o.load("{gpu}")).run())
        .isInstanceOf(TrafficException.class)
        .hasMessageContaining("column \"gpu\": unknown");
  }

  @Test
  void page_showsTheThrottleItsBoundTheLoadAndWhatWasTolerated() throws Exception {
    Path page = folder.resolve("report.html");
    StringBuilder input = new StringBuilder("time,k\n");
    for (int i = 0; i < 300; i++) {
      input.append((i / 3) + ",a\n" + (i % 100 < 50 ? "" : (i / 3) + ",a\n"));
    }
    for (int i = 0; i < 10; i++) {
      input.append("99,b" + i + "\n"); // A curve needs so many keys.
    }
    rules("{soft: 50%}").input("in.csv", input.toString()).options(o -> o.report(page)).run();
    assertThat(Files.readString(page))
        .contains("soft 50%: 3", "limit 2 + 1", "<path class=\"tolerated\"")
        .doesNotContain("load in %");
    rules("{elastic: 25%}").options(o -> o.report(page).load("40/10s")).run();
    assertThat(Files.readString(page))
        .contains("elastic below 25%", "load in %", "--load 40/10s", "admitted beyond a limit")
        .doesNotContain("limit 2 + ");
  }

  @Test
  void keysUse_countsWhatPassedUnchargedOnlyAsAdmitted() {
    KeyUse use = new KeyUse(2, 60);
    use.add(1, 2, true, true, false);
    use.add(2, 3, true, false, true);
    use.add(3, 1, false, false, false);
    assertThat(use.most()).isEqualTo(5);
    assertThat(use.overAdmissions()).isZero();
    assertThat(use.falseDenials()).isZero();
    use.add(61, 1, true, true, false);
    assertThat(use.most()).isEqualTo(5);
    assertThat(use.peak()).isEqualTo(6);
  }
}
