package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.OracleReplayTest.Asked;
import dev.weir.replay.OracleReplayTest.Recorded;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.judge.Verdicts;
import dev.weir.replay.internal.pages.KeyPlot;
import dev.weir.testkit.Oracle;
import dev.weir.testkit.Trials;
import dev.weir.testkit.WindowChecker;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test that a comparison's counts are those of the oracle and of a plain list of admissions. */
class CompareTest {
  @TempDir Path folder;

  private static Comparison compare(Traffic traffic, Quota quota) throws Exception {
    return Compare.run(traffic, quota, null, null, Progress.NONE, InputStream.nullInputStream());
  }

  @Test
  void realTraces_agreeWithTheOracle() throws Exception {
    for (Recorded trace : OracleReplayTest.real()) {
      Traffic traffic =
          Traffic.builder(trace.file().toString())
              .timeUnit(TimeUnit.SECONDS)
              .anyOrder(true)
              .descriptor(trace.descriptor())
              .permits(trace.permits())
              .build();
      check(compare(traffic, trace.quota()), trace.records(), trace.quota());
    }
  }

  @Test
  void generatedTraffic_agreesWithTheOracle() throws Exception {
    long seed = Trials.random("compared algorithms").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder("time,key,cost\n");
    List<Asked> records = new ArrayList<>();
    long nanos = 1_700_000_000_000_000_000L;
    for (int i = 0; i < 5_000; i++) {
      nanos += random.nextInt(3) == 0 ? 0 : random.nextLong(300_000_000);
      long at = random.nextInt(20) == 0 ? nanos - random.nextLong(100_000_000) : nanos;
      long permits = random.nextInt(4) == 0 ? random.nextLong(5) : 1;
      String key = "k" + random.nextInt(20);
      text.append(at).append(',').append(key).append(',').append(permits).append('\n');
      records.add(new Asked(i + 2L, at, key, permits));
    }
    Path file = Files.writeString(folder.resolve("in.csv"), text);
    Traffic traffic = Traffic.builder(file.toString()).anyOrder(true).permits("{cost}").build();
    Quota quota = Quota.of(11, Duration.ofSeconds(20));
    check(compare(traffic, quota), records, quota);
  }

  private static void check(Comparison comparison, List<Asked> records, Quota quota) {
    assertThat(comparison.requests()).isEqualTo(records.size());
    assertThat(comparison.keys()).isEqualTo(records.stream().map(Asked::key).distinct().count());
    assertThat(comparison.rows().stream().map(Compare.Row::algorithm))
        .containsExactlyElementsOf(Algorithm.rates());
    for (Compare.Row row : comparison.rows()) {
      Policy policy = Policy.builder(quota).algorithm(row.algorithm()).build();
      Oracle oracle = Oracle.of(policy);
      Map<String, List<Asked>> admitted = new HashMap<>();
      List<WindowChecker.Operation> history = new ArrayList<>();
      long now = Long.MIN_VALUE;
      long refused = 0;
      long falseDenials = 0;
      long overAdmissions = 0;
      for (Asked asked : records) {
        now = Math.max(now, asked.nanos());
        boolean fits = oracle.decide(asked.key(), now, asked.permits()).allowed();
        long used = 0;
        List<Asked> past = admitted.computeIfAbsent(asked.key(), key -> new ArrayList<>());
        for (int i = past.size() - 1; i >= 0; i--) {
          if (past.get(i).nanos() <= now - quota.windowNanos()) {
            break; // The ones before it are older still.
          }
          used += past.get(i).permits();
        }
        boolean room = used + asked.permits() <= quota.permits() || asked.permits() == 0;
        refused += fits ? 0 : 1;
        falseDenials += room && !fits ? 1 : 0;
        overAdmissions += fits && !room ? 1 : 0;
        if (fits) {
          past.add(new Asked(0, now, asked.key(), asked.permits()));
          history.add(WindowChecker.Operation.admitted(asked.key(), asked.permits(), now));
        }
      }
      assertThat(row.refused()).as("%s", row).isEqualTo(refused);
      assertThat(row.admitted()).as("%s", row).isEqualTo(records.size() - refused);
      assertThat(row.mostInWindow())
          .as("%s", row)
          .isEqualTo(WindowChecker.maxInAnyWindow(history, quota.windowNanos()));
      assertThat(row.falseDenials()).as("%s", row).isEqualTo(falseDenials);
      assertThat(row.overAdmissions()).as("%s", row).isEqualTo(overAdmissions);
      assertThat(row.decisionsPerSecond()).as("%s", row).isPositive();
      assertThat(row.bytesPerKey()).as("%s", row).isBetween(8L, 100_000L);
    }
  }

  /**
   * Writes two requests a second for b all the time, and ten for a at an edge of the clock's
   * minutes.
   */
  private Path edge() throws IOException {
    StringBuilder text = new StringBuilder("time,user\n");
    for (int second = 0; second < 240; second++) {
      for (int i = 0; i < (second == 118 || second == 121 ? 5 : 0); i++) {
        text.append(second).append(".5,<a>\n");
      }
      text.append(second).append(".7,b").append(second % 60).append('\n');
    }
    return Files.writeString(folder.resolve("edge.csv"), text);
  }

  @Test
  void page_showsTheKeyTheAlgorithmsDifferAbout() throws Exception {
    Path page = folder.resolve("compare.html");
    Comparison comparison =
        Compare.run(
            Traffic.builder(edge().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build(),
            Quota.perMinute(5),
            null,
            page,
            Progress.NONE,
            InputStream.nullInputStream());
    assertThat(comparison.key()).isEqualTo("user=<a>");
    assertThat(comparison.text())
        .contains(
            "250 requests of 61 keys, each 5 per 1 min",
            "user=<a>, the key they differ most about; . admitted, x refused");
    assertThat(comparison.json()).contains("\"over_admissions\" : 5", "\"most_in_window\" : 10");
    String html = Files.readString(page);
    assertThat(html)
        .contains("user=&lt;a&gt;", "refuse <em>0 to 5</em> of 250 requests", "--limit 5/1m")
        .doesNotContain("<a>", "<script", "http://", "https://");
  }

  @Test
  void keyThatWasAskedFor_isNotSaidToBeDisputed() throws Exception {
    Traffic traffic =
        Traffic.builder(edge().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    Comparison asked =
        Compare.run(
            traffic,
            Quota.perMinute(5),
            "user=b7",
            null,
            Progress.NONE,
            InputStream.nullInputStream());
    assertThat(asked.text()).contains("user=b7, the key asked for;").doesNotContain("differ most");
    assertThat(compare(traffic, Quota.perMinute(1_000)).text())
        .contains("user=<a>, the busiest key; they all agree;");
  }

  @Test
  void timelineInCharacters_losesNoRefusal() {
    Timeline timeline = new Timeline(480);
    for (int i = 0; i < 400; i++) {
      timeline.add(i * 1_000_000L, i < 40 || i >= 100 ? 1 : 0, i == 399 || i == 200);
    }
    String line = KeyPlot.line(timeline);
    assertThat(line).hasSize(52).startsWith("......      ").endsWith("x");
    assertThat(line.chars().filter(each -> each == 'x').count()).isEqualTo(2);
  }

  @Test
  void fewKeysFollowedAtOnce_giveTheSameCounts() throws Exception {
    Trace trace = new Trace(Long.MAX_VALUE);
    SplittableRandom random = new SplittableRandom(11);
    for (int i = 0; i < 20_000; i++) {
      trace.add(i * 10_000_000L, "k" + random.nextInt(500), 1);
    }
    Policy policy = Policy.builder(Quota.perMinute(10)).algorithm(Algorithm.FIXED_WINDOW).build();
    Compare.Row all = new Verdicts(trace, Long.MAX_VALUE / 2).run(policy);
    Compare.Row few = new Verdicts(trace, 1).run(policy);
    assertThat(few.mostInWindow()).isEqualTo(all.mostInWindow()).isGreaterThan(10);
    assertThat(few.overAdmissions()).isEqualTo(all.overAdmissions()).isPositive();
    assertThat(few.admitted()).isEqualTo(all.admitted());
  }

  @Test
  void stateWithoutRoom_isSaidAndNotCountedAsRefused() throws Exception {
    Trace trace = new Trace(Long.MAX_VALUE, 1_000_000);
    for (int i = 0; i < 90_000; i++) {
      trace.add(i * 1_000_000L, "k" + i % 30_000, 1);
    }
    Policy policy =
        Policy.builder(Quota.of(1_000, Duration.ofHours(1)))
            .algorithm(Algorithm.SLIDING_WINDOW_LOG)
            .build();
    assertThatThrownBy(() -> new Verdicts(trace, 1 << 20).run(policy))
        .isInstanceOf(TrafficException.class)
        .hasMessageStartingWith("input: the state of 30000 keys (expected: as much as a quarter");
  }

  @Test
  void stoppedWhileComparing_saysSo() throws Exception {
    Traffic traffic =
        Traffic.builder(edge().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    assertThatThrownBy(
            () ->
                Compare.run(
                    traffic,
                    Quota.perMinute(5),
                    null,
                    null,
                    (bytes, total, records) -> Thread.currentThread().interrupt(),
                    InputStream.nullInputStream()))
        .hasMessage("compare: stopped while comparing");
  }

  @Test
  void page_saysWhatCouldNotBeRead() throws Exception {
    Path file = Files.writeString(folder.resolve("in.csv"), "time,ip\n1,a\nnoon,<b>\n61,a\n");
    Path page = folder.resolve("compare.html");
    Traffic traffic =
        Traffic.builder(file.toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    Compare.run(
        traffic, Quota.perMinute(5), null, page, Progress.NONE, InputStream.nullInputStream());
    assertThat(Files.readString(page)).contains("Unreadable lines", "&quot;noon&quot;");
    LimitSuggestions.run(
        traffic,
        new LimitSuggestions.Options(
            List.of(Duration.ofMinutes(1)), 0.1, Algorithm.SLIDING_WINDOW, "d"),
        page,
        Progress.NONE,
        InputStream.nullInputStream());
    assertThat(Files.readString(page)).contains("Unreadable lines", "&quot;noon&quot;");
  }

  @Test
  void keyThatIsNotThereAndAnInputWithoutKeys_areRefused() throws Exception {
    Traffic traffic =
        Traffic.builder(edge().toString()).timeUnit(TimeUnit.SECONDS).anyOrder(true).build();
    assertThatThrownBy(
            () ->
                Compare.run(
                    traffic,
                    Quota.perMinute(5),
                    "user=nobody",
                    null,
                    Progress.NONE,
                    InputStream.nullInputStream()))
        .hasMessage("key: \"user=nobody\" (expected: one in the input, such as user=b0)");
    Path file = Files.writeString(folder.resolve("x.csv"), "time,colour\n1,red\n");
    assertThatThrownBy(
            () ->
                compare(
                    Traffic.builder(file.toString())
                        .timeUnit(TimeUnit.SECONDS)
                        .anyOrder(true)
                        .build(),
                    Quota.perMinute(5)))
        .hasMessageStartingWith("descriptor: none, and no column has a usual name for a key");
    Path unreadable = Files.writeString(folder.resolve("y.csv"), "time,ip\nx,red\n");
    assertThatThrownBy(
            () ->
                compare(
                    Traffic.builder(unreadable.toString())
                        .timeUnit(TimeUnit.SECONDS)
                        .anyOrder(true)
                        .build(),
                    Quota.perMinute(5)))
        .hasMessageStartingWith("input: no record can be read; the first: time: \"x\"");
  }

  @Test
  void trace_givesBackWhatItWasGivenAndKnowsItsBound() throws Exception {
    long seed = Trials.random("traces").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    Trace trace = new Trace(Long.MAX_VALUE);
    List<String> given = new ArrayList<>();
    long now = Long.MIN_VALUE;
    for (int i = 0; i < 300_000; i++) {
      long nanos = random.nextLong(1L << random.nextInt(1, 62)) - (1L << 40);
      long permits = random.nextLong(1L << random.nextInt(1, 60));
      String key = "k" + random.nextInt(1000);
      now = Math.max(now, nanos);
      trace.add(nanos, key, permits);
      given.add(now + " " + key + " " + permits);
    }
    List<String> got = new ArrayList<>();
    Trace.Cursor cursor = trace.cursor();
    while (cursor.next()) {
      got.add(cursor.nanos() + " " + trace.key(cursor.key()) + " " + cursor.permits());
    }
    assertThat(got).as("seed %s", seed).isEqualTo(given);
    Trace small = new Trace(2 << 20);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 1_000_000; i++) {
                small.add(i, "k" + i, 1);
              }
            })
        .isInstanceOf(TrafficException.class)
        .hasMessageMatching(
            "input: more than \\d+ records \\(expected: .* give it more with -Xmx, .*\\)");
  }
}
