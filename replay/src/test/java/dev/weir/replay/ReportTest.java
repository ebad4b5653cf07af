package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Quota;
import dev.weir.replay.internal.judge.RollingSum;
import dev.weir.replay.internal.judge.RuleKey;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.judge.WindowUse;
import dev.weir.rules.Rule;
import dev.weir.rules.Rules;
import dev.weir.testkit.Trials;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test of the parts of a report: counters against plain lists, and the page itself. */
class ReportTest {
  private static final long SECOND = 1_000_000_000L;

  @TempDir Path folder;

  private String page(String rules, String input) throws Exception {
    Path page = folder.resolve("report.html");
    new Trial(folder)
        .rulesText(rules)
        .input("in.csv", input)
        .options(options -> options.report(page))
        .run();
    return Files.readString(page);
  }

  @Test
  void page_saysWhoWasRefusedWhenAndByWhichRule() throws Exception {
    StringBuilder input = new StringBuilder("time,k\n");
    for (int i = 0; i < 600; i++) {
      input.append(1_700_000_000 + i).append(",quiet").append(i % 300).append('\n');
      input.append(i > 300 && i < 320 ? (1_700_000_000 + i) + ",loud\n" : "");
    }
    input.append("noon,x\n");
    String html = page(Trial.rules("token-bucket", 3, "minute"), input.toString());
    assertThat(html)
        .contains(
            "<em>16</em> of 619 requests would be refused, 2.58 %",
            "key=loud",
            "3 per 1 min",
            "time: &quot;noon&quot; (expected: ",
            "requests_per_unit: 3",
            "weir replay",
            "CRC-32C")
        .doesNotContain("<script", "http://", "https://");
    // One of 301 keys requests 19 permits within a minute, the others one.
    assertThat(html)
        .contains("At the limit of 3, 1 of 301 keys ask for more in some window: 0.33 %");
  }

  /**
   * Tests a limit above 128: such a rule counts in buckets and counts the oldest in full, so it
   * needs more room.
   */
  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void limitThatRefusesNoKey_isTrueOfTheRulesOwnAlgorithm(Algorithm algorithm) throws Exception {
    SplittableRandom random = new SplittableRandom(5);
    StringBuilder input = new StringBuilder("time,k,tokens\n");
    long millis = 1_700_000_000_000L;
    for (int i = 0; i < 2_000; i++) {
      millis += random.nextInt(400);
      input.append(millis).append(i % 7 == 0 ? ",b," : ",a,").append(random.nextInt(1, 5_000));
      input.append('\n');
    }
    Path page = folder.resolve("report.html");
    Trial trial =
        new Trial(folder)
            .rulesText(Trial.rules(algorithm.text(), 100_000, "minute"))
            .input("in.csv", input.toString())
            .options(options -> options.report(page))
            .traffic(traffic -> traffic.permits("{tokens}").timeUnit(TimeUnit.MILLISECONDS));
    assertThat(trial.run().counts().denied()).isPositive();
    Matcher row =
        Pattern.compile(
                "data-h=\"limit per 1 min\">([0-9,]+)</td><td class=\"n\" data-h=\"requests refused\">0<")
            .matcher(Files.readString(page));
    assertThat(row.find()).isTrue();
    long limit = Long.parseLong(row.group(1).replace(",", ""));
    for (long less = 0; less <= 1; less++) {
      long refused =
          new Trial(folder)
              .rulesText(Trial.rules(algorithm.text(), limit - less, "minute"))
              .input("in.csv", input.toString())
              .traffic(traffic -> traffic.permits("{tokens}").timeUnit(TimeUnit.MILLISECONDS))
              .run()
              .counts()
              .denied();
      assertThat(refused == 0)
          .as("%s: %s refuses %s", algorithm, limit - less, refused)
          .isEqualTo(less == 0);
    }
  }

  @Test
  void whatALogHolds_cannotActInThePage() throws Exception {
    String evil = "<script>alert('1')</script>\"><img src=x onerror=alert(1)>\u202e";
    String html =
        page(
            Trial.rules("", 1, "minute"),
            ("1,\"" + evil.replace("\"", "\"\"") + "\"\n").repeat(3).replaceFirst("^", "time,k\n"));
    assertThat(html)
        .contains("&lt;script&gt;alert", "&lt;img src=x", "\\u202e")
        .doesNotContain("<script>", "<img", "\u202e");
  }

  @Test
  void ruleInShadowModeAndRequestsOutOfOrder_areNotHidden() throws Exception {
    Path page = folder.resolve("report.html");
    new Trial(folder)
        .rulesText(Trial.rules("", 1, "minute") + "    shadow_mode: true\n")
        .input("in.csv", "time,k\n10,a\n9,a\n11,a\n")
        .options(options -> options.report(page).maxKeys(77))
        .run();
    assertThat(Files.readString(page))
        .contains(
            "1 requests are earlier than a request before them", "--max-keys 77", "in shadow mode");
  }

  @Test
  void worstMinuteOfALongLog_isShownBySeconds() throws Exception {
    StringBuilder input = new StringBuilder("time,k\n");
    for (int i = 0; i < 2_000; i++) {
      input.append(i).append(",quiet").append(i).append('\n');
      input.append((i + ",loud\n").repeat(i == 1_000 ? 50 : 0));
    }
    assertThat(page(Trial.rules("", 3, "minute"), input.toString()))
        .contains("until +00:16:41: 47 requests refused");
    assertThat(page(Trial.rules("", 3, "minute"), "time,k\n1,a\n2,a\n"))
        .doesNotContain("worst minute");
  }

  @Test
  void sameInput_givesTheSamePage() throws Exception {
    StringBuilder input = new StringBuilder("time,k\n");
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 5_000; i++) {
      input.append(i / 20).append(",k").append(random.nextInt(200)).append('\n');
    }
    String first = page(Trial.rules("", 2, "minute"), input.toString());
    assertThat(page(Trial.rules("", 2, "minute"), input.toString())).isEqualTo(first);
  }

  @Test
  void emptyReplay_hasAPageTooAndNothingIsOverwritten() throws Exception {
    assertThat(page(Trial.rules("", 2, "minute"), "time,k\n")).contains("No request could be read");
    Trial trial = new Trial(folder).input("in.csv", "time,k\n1,a\n");
    trial.options(options -> options.report(folder.resolve("in.csv")));
    assertThatThrownBy(trial::run).hasMessageEndingWith("in.csv (expected: not what is read)");
    trial.options(options -> options.report(trial.decisionsFile()));
    assertThatThrownBy(trial::run)
        .hasMessageContaining("(expected: another file than the decisions')");
  }

  @Test
  void timeline_losesNothingAndStaysWithinItsBound() {
    int runs = 200;
    long seed = Trials.random("timelines", runs).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < runs; round++) {
      Timeline timeline = new Timeline(48);
      long longest = 1L << random.nextInt(10, 50);
      long nanos = random.nextLong(1L << 60) - (1L << 59);
      List<long[]> added = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        long permits = random.nextLong(5);
        boolean denied = random.nextInt(3) == 0;
        timeline.add(nanos, permits, denied);
        added.add(new long[] {nanos, permits, denied ? permits : 0});
        nanos += random.nextLong(longest);
      }
      assertThat(timeline.size()).as("seed %s", seed).isBetween(1, 48);
      for (int i = 0; i < timeline.size(); i++) {
        long from = timeline.startNanos(i);
        long offered = 0;
        long refused = 0;
        for (long[] each : added) {
          if (each[0] >= from && each[0] - from < timeline.widthNanos()) {
            offered += each[1];
            refused += each[2];
          }
        }
        assertThat(timeline.offered(i)).as("seed %s", seed).isEqualTo(offered);
        assertThat(timeline.refused(i)).as("seed %s", seed).isEqualTo(refused);
      }
    }
  }

  @Test
  void rollingSum_isExactAndBeyondItsBoundNeverTooLow() {
    long seed = Trials.random("rolling sums", 2).nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    for (int dense : new int[] {1, 40}) {
      RollingSum sum = new RollingSum(10 * SECOND);
      List<long[]> all = new ArrayList<>();
      long now = -5 * SECOND;
      int from = 0;
      for (int i = 0; i < 30_000; i++) {
        now += random.nextInt(4) == 0 ? 0 : random.nextLong(20_000_000 / dense);
        long permits = 1 + random.nextLong(3);
        sum.add(now, permits);
        all.add(new long[] {now, permits});
        while (all.get(from)[0] <= now - 10 * SECOND) {
          from++;
        }
        long expected = 0;
        for (int j = from; j < all.size() && i % 50 == 0; j++) {
          expected += all.get(j)[1];
        }
        if (i % 50 == 0) {
          assertThat(sum.at(now)).as("seed %s", seed).isGreaterThanOrEqualTo(expected);
          if (dense == 1) {
            assertThat(sum.at(now)).as("seed %s", seed).isEqualTo(expected);
          } else {
            assertThat(sum.at(now))
                .as("seed %s", seed)
                .isLessThanOrEqualTo(expected + expected / 500 + 50);
          }
        }
      }
      assertThat(sum.entries()).isLessThanOrEqualTo(4 * RollingSum.EXACT_ENTRIES);
    }
  }

  private static Rule rule() {
    return Objects.requireNonNull(Rules.parse("r.yaml", Trial.rules("", 2, "minute")).ruleSet())
        .rules()
        .get(0);
  }

  @Test
  void tooManyKeys_areSampledFairlyWithinTheBound() {
    Rule rule = rule();
    WindowUse use = new WindowUse(1_000, 1 << 20);
    long now = 0;
    for (int key = 0; key < 50_000; key++) {
      int permits = key % 10 == 0 ? 5 : 1;
      use.add(
          new RuleKey(rule, "key=" + key),
          Quota.perMinute(2),
          now++,
          permits,
          permits <= 2,
          permits <= 2,
          false);
    }
    WindowUse.RuleUse of = Objects.requireNonNull(use.byRule().get(rule.path()));
    assertThat(of.keys()).isBetween(250, 1_000);
    assertThat(of.keysPerFollowed()).isGreaterThanOrEqualTo(64);
    double estimate = (double) of.keys() * of.keysPerFollowed();
    assertThat(estimate).isBetween(40_000.0, 60_000.0);
    assertThat(of.above(2) / (double) of.keys()).isBetween(0.05, 0.16);
    assertThat(of.above(5)).isZero();
    assertThat(of.above(0)).isEqualTo(of.keys());
  }
}
