package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.replay.ReplaySummary.QueueCount;
import dev.weir.replay.internal.judge.WaitTimes;
import dev.weir.testkit.Trials;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of rules with queues on recorded traffic: requests beyond the limit wait in the records'
 * time.
 */
class QueueReplayTest {
  private static final long SECOND = 1_000_000_000L;

  @TempDir Path folder;

  private Trial trial;

  @BeforeEach
  void fresh() throws IOException {
    trial = new Trial(folder);
  }

  private Trial rules(String limit) throws IOException {
    return trial.rulesText(
        """
        domain: d
        descriptors:
          - key: key
            rate_limit: {name: lim, %s}
        """
            .formatted(limit));
  }

  private String decisions() throws IOException {
    return Files.readString(trial.decisionsFile());
  }

  @Test
  void requestBeyondTheLimit_isServedAtItsTurn() throws Exception {
    ReplaySummary summary =
        rules(
                "window: 20s, requests_per_unit: 2, burst: 1, algorithm: token-bucket,"
                    + " on_limit: {queue: {requests: 2, wait: 20s}}")
            .input(
                "in.csv",
                """
                time,k
                100,a
                101,a
                102.5,a
                103,a
                103,b
                111,a
                131.2,a
                """)
            .run();
    // One permit each 10 s: line 3 is served at 110, line 4 at 120; line 5 finds the queue full.
    // Line 7 stands behind line 4 until 130, so line 8 waits until 140.
    assertThat(decisions())
        .isEqualTo(
            """
            line,timestamp_ms,outcome,reason,policy,limit,remaining,retry_after_ms,waited_ms
            2,100000,ALLOWED,WITHIN_LIMIT,lim,1,0,0,0
            5,103000,DENIED,OVER_LIMIT,lim,1,0,27000,0
            6,103000,ALLOWED,WITHIN_LIMIT,lim,1,0,0,0
            3,101000,ALLOWED,WITHIN_LIMIT,lim,1,0,0,9000
            4,102500,ALLOWED,WITHIN_LIMIT,lim,1,0,0,17500
            7,111000,ALLOWED,WITHIN_LIMIT,lim,1,0,0,19000
            8,131200,ALLOWED,WITHIN_LIMIT,lim,1,0,0,8800
            """);
    assertThat(summary.counts().requests()).isEqualTo(7);
    assertThat(summary.counts().allowed()).isEqualTo(6);
    assertThat(summary.counts().denied()).isEqualTo(1);
    assertThat(summary.counts().outOfOrder()).isZero();
    assertThat(summary.counts().lastNanos()).isEqualTo(131_200_000_000L);
    assertThat(summary.queues()).hasSize(1);
    QueueCount queue = summary.queues().get(0);
    assertThat(queue.servedLate()).isEqualTo(4);
    assertThat(queue.longestWaitNanos()).isEqualTo(19 * SECOND);
    assertThat(queue.medianWaitNanos()).isBetween(9 * SECOND, 9 * SECOND + 9 * SECOND / 64);
    assertThat(queue.gaveUp()).isZero();
    assertThat(queue.refusedAtOnce()).isEqualTo(1);
  }

  @Test
  void turnAtTheVeryEndOfTheWait_isServed() throws Exception {
    rules("window: 2s, requests_per_unit: 3, on_limit: {queue: {requests: 2, wait: 2s}}")
        .input("in.csv", "time,k\n" + "100,a\n".repeat(6) + "102,a\n")
        .run();
    assertThat(outcomes())
        .containsEntry(5L, "ALLOWED 2000")
        .containsEntry(6L, "ALLOWED 2000")
        .containsEntry(7L, "DENIED 0")
        .containsEntry(8L, "ALLOWED 0");
  }

  @Test
  void requestWhoseTurnIsTooLate_isRefusedAtOnce() throws Exception {
    ReplaySummary summary =
        rules(
                "window: 10s, requests_per_unit: 10, burst: 1, algorithm: token-bucket,"
                    + " on_limit: {queue: {requests: 10, wait: 2500ms}}")
            .input("in.csv", "time,k\n" + "100,a\n".repeat(6))
            .run();
    assertThat(outcomes())
        .isEqualTo(
            Map.of(
                2L,
                "ALLOWED 0",
                3L,
                "ALLOWED 1000",
                4L,
                "ALLOWED 2000", //
                5L,
                "DENIED 0",
                6L,
                "DENIED 0",
                7L,
                "DENIED 0"));
    assertThat(summary.queues().get(0).refusedAtOnce()).isEqualTo(3);
  }

  @Test
  void requestThatAnotherRuleRefusesAtItsTurn_gaveUp() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: user
                    rate_limit: {name: user, window: 10s, requests_per_unit: 1,
                      on_limit: {queue: {requests: 1, wait: 20s}}}
                  - key: all
                    rate_limit: {name: all, window: 20s, requests_per_unit: 3}
                """)
            .traffic(o -> o.descriptor("user={u}").descriptor("all=x"))
            .input("in.csv", "time,u\n100,a\n101,a\n104,b\n105,c\n106,d\n")
            .run();
    // At 110 the permit of a is free again, but no permit of all is free before 120.
    assertThat(outcomes())
        .containsEntry(3L, "DENIED 9000")
        .containsEntry(4L, "ALLOWED 0")
        .containsEntry(5L, "ALLOWED 0");
    assertThat(summary.gaveUp()).isEqualTo(1);
    assertThat(summary.servedLate()).isZero();
    assertThat(summary.counts().denied()).isEqualTo(2);
  }

  @Test
  void summary_saysHowManyWereServedLate() throws Exception {
    Path page = folder.resolve("report.html");
    ReplaySummary summary =
        rules(
                "window: 10s, requests_per_unit: 10, burst: 1, algorithm: token-bucket,"
                    + " on_limit: {queue: {requests: 2, wait: 2500ms}}")
            .input("in.csv", "time,k\n100,a\n100,a\n100,a\n100,a\n")
            .options(o -> o.report(page))
            .run();
    assertThat(summary.text())
        .containsPattern("served late +2\n")
        .containsPattern(
            "at most +wait up to +served late +median wait +99 % wait at most +longest wait +gave up")
        .containsPattern("lim +2 +2500 ms +2 +1\\.0. s +2\\.00 s +2\\.00 s +0 +1\n");
    assertThat(summary.json())
        .contains(
            "\"served_late\" : 2",
            "\"gave_up\" : 0",
            "\"wait_nanos\" : 2500000000",
            "\"longest_wait_nanos\" : 2000000000",
            "\"refused_at_once\" : 1");
    assertThat(Files.readString(page))
        .contains("<h2>Queues</h2>", "served late", "0 gave up waiting");
  }

  @Test
  void rulesWithoutAQueue_sayNothingOfQueues() throws Exception {
    Path page = folder.resolve("report.html");
    ReplaySummary summary =
        rules("window: 10s, requests_per_unit: 1, on_limit: drop")
            .input("in.csv", "time,k\n100,a\n100,a\n")
            .options(o -> o.report(page))
            .run();
    assertThat(summary.text()).doesNotContain("queue", "served late");
    assertThat(summary.json()).doesNotContain("queue", "served_late");
    assertThat(Files.readString(page)).doesNotContain("Queues", "served late");
    assertThat(decisions()).doesNotContain("waited_ms");
  }

  @Test
  void severalInputs_areNamedInTheLastColumn() throws Exception {
    rules("window: 10s, requests_per_unit: 1, on_limit: {queue: {requests: 1, wait: 20s}}")
        .input("a.csv", "time,k\n100,a\n")
        .andInput("b.csv", "time,k\n101,a\n".getBytes(StandardCharsets.UTF_8))
        .run();
    assertThat(decisions()).contains(",waited_ms,input\n", ",0,9000,");
  }

  @Test
  void windowsAreCountedAtTheTimeOfServing_andDemandAtTheTimeOfComing() throws Exception {
    // Three permits are requested within a window, not four.
    assertThat(cell(rulesRow(3), "keys above the limit")).isEqualTo("0");
    String row = rulesRow(2);
    // The third is served at 110, when the first has left the window: two within any window, while
    // three were requested within one.
    assertThat(outcomes()).containsEntry(4L, "ALLOWED 8000");
    assertThat(cell(row, "keys above the limit")).isEqualTo("1");
    assertThat(cell(row, "most admitted")).isEqualTo("2");
    assertThat(cell(row, "wrongly refused")).isEqualTo("0");
    assertThat(cell(row, "wrongly admitted")).isEqualTo("0");
  }

  /** Returns the rule's row of the report, for a limit with a queue. */
  private String rulesRow(int limit) throws Exception {
    Path page = folder.resolve("report.html");
    rules(
            "window: 10s, requests_per_unit: "
                + limit
                + ", algorithm: sliding-window-log,"
                + " on_limit: {queue: {requests: 2, wait: 30s}}")
        .input("in.csv", "time,k\n100,a\n101,a\n102,a\n103,b\n130,a\n")
        .options(o -> o.report(page))
        .run();
    String report = Files.readString(page);
    String row = report.substring(report.indexOf("<h2>Rules</h2>"));
    return row.substring(row.indexOf("<tbody>"), row.indexOf("</tr>\n"));
  }

  @Test
  void queueOfAnotherDomain_changesNothing() throws Exception {
    Path other = folder.resolve("other.yaml");
    Files.writeString(
        other,
        "domain: e\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 5,"
            + " on_limit: {queue: {requests: 5, wait: 1s}}}\n");
    ReplaySummary summary =
        rules("window: 10s, requests_per_unit: 1")
            .input("in.csv", "time,k\n100,a\n100,a\n")
            .options(o -> o.rules(other))
            .run();
    assertThat(summary.queues()).isEmpty();
    assertThat(decisions()).doesNotContain("waited_ms");
    assertThat(trial.outcomes()).containsExactly("2 ALLOWED", "3 DENIED");
  }

  @Test
  void waitTimes_areCountedToOneSixtyFourth() {
    WaitTimes times = new WaitTimes();
    assertThat(times.atMostNanos(50)).isZero();
    SplittableRandom random = new SplittableRandom(7);
    long[] all = new long[9_999];
    for (int i = 0; i < all.length; i++) {
      all[i] = random.nextLong(1L << random.nextInt(1, 37));
      times.add(all[i]);
    }
    Arrays.sort(all);
    long median = all[all.length / 2];
    assertThat(times.atMostNanos(50)).isBetween(median, median + median / 64);
    assertThat(times.longestNanos()).isEqualTo(all[all.length - 1]);
    assertThat(times.count()).isEqualTo(all.length);
    WaitTimes one = new WaitTimes();
    one.add(60 * SECOND);
    assertThat(one.atMostNanos(50)).isEqualTo(60 * SECOND);
  }

  private static String cell(String row, String heading) {
    String after = row.substring(row.indexOf("data-h=\"" + heading + "\">"));
    return after.substring(after.indexOf('>') + 1, after.indexOf("</td>"));
  }

  @Test
  void elasticRule_lowLoadAtTheTurn_admitsWithoutCharging() throws Exception {
    rules(
            "window: 10s, requests_per_unit: 1, throttle: elastic,"
                + " on_limit: {queue: {requests: 1, wait: 20s}}")
        .input("in.csv", "time,k,cpu\n100,a,1\n101,a,1\n105,b,0\n111,b,0\n")
        .options(o -> o.load("{cpu}"))
        .run();
    assertThat(outcomes()).containsEntry(3L, "ALLOWED 9000").containsEntry(5L, "ALLOWED 0");
  }

  @Test
  void bucketWithAQueue_agreesWithANaiveOne() throws Exception {
    compare(
        "algorithm: token-bucket, window: 1s, requests_per_unit: 8, burst: 3",
        new NaiveQueue.Bucket(SECOND / 8, 3));
  }

  @Test
  void fixedWindowWithAQueue_agreesWithANaiveOne() throws Exception {
    compare(
        "algorithm: fixed-window, window: 1s, requests_per_unit: 8",
        new NaiveQueue.Window(SECOND, 8));
  }

  @Test
  void logWithAQueue_agreesWithANaiveOne() throws Exception {
    compare(
        "algorithm: sliding-window-log, window: 1s, requests_per_unit: 8",
        new NaiveQueue.Log(SECOND, 8));
  }

  /** Replays generated traffic, and compares each outcome and wait with those of a naive queue. */
  private void compare(String limit, NaiveQueue.Limit naive) throws Exception {
    long seed = Trials.random("replayed queue").nextLong();
    SplittableRandom random = new SplittableRandom(seed);
    NaiveQueue queue = new NaiveQueue(naive, 5, 700_000_000);
    StringBuilder input = new StringBuilder("time,k\n");
    long nanos = 1_700_000_000 * SECOND;
    for (int line = 2; line < 6_000; line++) {
      nanos += random.nextInt(300) == 0 ? random.nextLong(2 * SECOND) : random.nextLong(70_000_000);
      String key = "k" + random.nextInt(3);
      input.append("%d.%09d,%s\n".formatted(nanos / SECOND, nanos % SECOND, key));
      queue.request(line, key, nanos);
    }
    Map<Long, String> expected = new TreeMap<>();
    queue
        .finish()
        .forEach(
            (line, verdict) -> {
              long waited = verdict.answeredNanos() - verdict.cameNanos();
              long millis = (waited + 999_999) / 1_000_000;
              expected.put(line, (verdict.admitted() ? "ALLOWED " : "DENIED ") + millis);
            });
    ReplaySummary summary =
        rules(limit + ", on_limit: {queue: {requests: 5, wait: 700ms}}")
            .input("in.csv", input.toString())
            .run();
    assertThat(outcomes()).as("seed %s", seed).isEqualTo(expected);
    assertThat(summary.servedLate())
        .as("seed %s", seed)
        .isEqualTo(expected.values().stream().filter(each -> late(each)).count())
        .isGreaterThan(500);
    assertThat(summary.queues().get(0).refusedAtOnce()).isGreaterThan(100);
  }

  private static boolean late(String outcome) {
    return outcome.startsWith("ALLOWED") && !outcome.equals("ALLOWED 0");
  }

  /** Returns {@code outcome waited_ms} of each line. */
  private Map<Long, String> outcomes() throws IOException {
    Map<Long, String> outcomes = new TreeMap<>();
    List<String> rows = Files.readAllLines(trial.decisionsFile());
    for (String row : rows.subList(1, rows.size())) {
      String[] cells = row.split(",", -1);
      outcomes.put(Long.parseLong(cells[0]), cells[2] + " " + cells[8]);
    }
    return outcomes;
  }
}
