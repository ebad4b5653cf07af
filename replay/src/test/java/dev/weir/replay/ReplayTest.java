package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Throttle;
import dev.weir.replay.internal.pages.DecisionsWriter;
import dev.weir.traffic.Format;
import dev.weir.traffic.Progress;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A test of the whole replay: 2 per minute and key by the default algorithm, unless a test differs.
 */
class ReplayTest {
  @TempDir Path folder;
  private Trial trial;

  @BeforeEach
  void makeTrial() throws IOException {
    trial = new Trial(folder);
  }

  private static byte[] gzip(String text) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return bytes.toByteArray();
  }

  @Test
  void records_areDecidedOnTheirOwnTime() throws Exception {
    ReplaySummary summary =
        trial
            .input(
                "in.csv",
                """
                time,k
                1000.000,a
                1010.000,a
                1020.0001,a
                1020.5,b
                1060.000,a
                1069.999999999,a
                1070.000,a
                """)
            .run();
    assertThat(Files.readString(trial.decisionsFile()))
        .isEqualTo(
            """
            line,timestamp_ms,outcome,reason,policy,limit,remaining,retry_after_ms
            2,1000000,ALLOWED,WITHIN_LIMIT,lim,2,1,0
            3,1010000,ALLOWED,WITHIN_LIMIT,lim,2,0,0
            4,1020000,DENIED,OVER_LIMIT,lim,2,0,40000
            5,1020500,ALLOWED,WITHIN_LIMIT,lim,2,1,0
            6,1060000,ALLOWED,WITHIN_LIMIT,lim,2,0,0
            7,1069999,DENIED,OVER_LIMIT,lim,2,0,1
            8,1070000,ALLOWED,WITHIN_LIMIT,lim,2,0,0
            """);
    assertThat(summary.counts())
        .isEqualTo(
            new ReplaySummary.Counts(
                7, 5, 2, 0, 0, 0, 0, 0, 0, 1000_000_000_000L, 1070_000_000_000L));
    assertThat(summary.counts().deniedShare()).hasToString("0.285714");
    assertThat(summary.source().format()).isEqualTo(Format.CSV);
    assertThat(summary.source().timeColumn()).isEqualTo("time");
    assertThat(summary.refusedKeys())
        .containsExactly(new ReplaySummary.RefusedKey("lim", "key=a", 2));
    assertThat(summary.policies())
        .containsExactly(
            new ReplaySummary.PolicyCount(
                "lim",
                "d.key",
                "sliding-window",
                2,
                60_000_000_000L,
                7,
                2,
                0,
                Throttle.HARD,
                2,
                0));
    assertThat(summary.busiestWindows().get(0))
        .isEqualTo(
            new ReplaySummary.BusyWindow(
                "lim", "key=a", 1020_000_000_000L, 60_000_000_000L, 4, 4, 2));
  }

  @Test
  void recordFromThePast_isDecidedAtTheLatestTime() throws Exception {
    ReplaySummary summary =
        trial.input("in.csv", "time,k\n100,a\n30,a\n31,a\n159.9,a\n160,a\n").run();
    // At its own time the second would have fitted beside neither: both count at 100.
    assertThat(trial.outcomes())
        .containsExactly("2 ALLOWED", "3 ALLOWED", "4 DENIED", "5 DENIED", "6 ALLOWED");
    assertThat(trial.rows().get(1).timestampMs()).isEqualTo(30_000);
    assertThat(summary.counts().outOfOrder()).isEqualTo(2);
    assertThat(summary.counts().firstNanos()).isEqualTo(30_000_000_000L);
  }

  @Test
  void sorting_comesFirstAndKeepsTheOrderOfEqualTimes() throws Exception {
    ReplaySummary summary =
        trial
            .input("in.csv", "time,k\n100,a\n30,a\nx,a\n30,a\n30,a\n")
            .traffic(options -> options.sort(true))
            .run();
    assertThat(trial.outcomes()).containsExactly("3 ALLOWED", "5 ALLOWED", "6 DENIED", "2 ALLOWED");
    assertThat(summary.counts().outOfOrder()).isZero();
    assertThat(summary.counts().unreadable()).isEqualTo(1);
  }

  @Test
  void interrupt_endsTheDecidingOfSortedRecordsToo() throws Exception {
    trial.input("in.csv", "time,k\n" + "5,a\n".repeat(30));
    Traffic traffic = trial.traffic(options -> options.sort(true)).traffic();
    int[] taken = {0};
    try (TrafficReader reader =
        TrafficReader.open(
            traffic,
            RequestTemplate.of("d", traffic.descriptors(), "1"),
            InputStream.nullInputStream())) {
      reader.each(
          (input, line, nanos, request, load, took) -> {
            if (++taken[0] == 10) {
              Thread.currentThread().interrupt();
            }
          },
          (input, line, reason) -> {},
          Progress.NONE);
      assertThat(reader.stopped()).isTrue();
    }
    assertThat(taken[0]).isEqualTo(10);
  }

  @Test
  void unreadableRecords_areCountedShownAndSkipped() throws Exception {
    StringBuilder text = new StringBuilder("time,k,n\n1,a,1\nnoon,a,1\n2,a\n3,a,many\n4,a,1\n");
    for (int i = 0; i < 20; i++) {
      text.append("?,a,1\n");
    }
    ReplaySummary summary =
        trial.input("in.csv", text.toString()).traffic(options -> options.permits("{n}")).run();
    assertThat(trial.outcomes()).containsExactly("2 ALLOWED", "6 ALLOWED");
    assertThat(summary.counts().requests()).isEqualTo(2);
    assertThat(summary.counts().unreadable()).isEqualTo(23);
    assertThat(summary.unreadableLines()).hasSize(10);
    assertThat(summary.unreadableLines().get(1))
        .isEqualTo(
            new ReplaySummary.UnreadableLine(
                folder.resolve("in.csv").toString(), 4, "2 columns (expected: 3)"));
    assertThat(summary.text())
        .contains("unreadable (the first 10)\n  line 3: time: \"noon\" (expected: ")
        .contains(
            "  line 5: permits: \"many\" (expected: a whole number from 0 to"
                + " 999999999999999999)\n");
  }

  @Test
  void whatTheEngineRefuses_isUnreadableToo() throws Exception {
    ReplaySummary summary =
        trial.input("in.csv", "time,k\n1," + "x".repeat(5000) + "\n2,a\n").run();
    assertThat(summary.unreadableLines())
        .containsExactly(
            new ReplaySummary.UnreadableLine(
                folder.resolve("in.csv").toString(),
                2,
                "entry length: 5000 (expected: at most 4096)"));
    assertThat(trial.outcomes()).containsExactly("3 ALLOWED");
  }

  @Test
  void permits_comeFromAColumnAndNoneOnlyPeeks() throws Exception {
    trial
        .rulesText(Trial.rules("", 10, "minute"))
        .input("in.csv", "time,k,n\n1,a,0\n2,a,7\n3,a,4\n4,a,3\n5,a,0\n6,a,11\n")
        .traffic(options -> options.permits("{n}"))
        .run();
    assertThat(trial.rows().stream().map(row -> row.outcome() + " " + row.remaining()).toList())
        .containsExactly(
            "ALLOWED 10", "ALLOWED 3", "DENIED 3", "ALLOWED 0", "ALLOWED 0", "DENIED 0");
    assertThat(trial.rows().get(5).retryAfterMs()).as("never").isEqualTo("-1");
  }

  @Test
  void limitAtTheSameTime_countsForItsHold_withAWarning() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: key
                    rate_limit: {name: seats, concurrency: 1, hold: 3s}
                """)
            .input("in.csv", "time,k\n1,a\n2,a\n5,a\n9,a\n")
            .run();
    assertThat(trial.rows())
        .extracting(row -> row.outcome())
        .containsExactly("ALLOWED", "DENIED", "ALLOWED", "ALLOWED");
    assertThat(Trial.ruleWarnings(summary))
        .containsExactly(
            "rule seats (d.key): each request counts for the hold of 3 s, whether it was shorter or"
                + " longer; duration: the records do not have it (expected: a log with"
                + " $request_time of nginx, %D of Apache or the like, and --duration COLUMN:UNIT"
                + " unless the format is known to have it)");
  }

  @Test
  void severalDescriptors_areOneRequestAndTheDecidingOneIsReported() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: user
                    rate_limit: {name: per user, unit: minute, requests_per_unit: 2}
                  - key: "all,of them"
                    rate_limit: {name: "total, \\"all\\"", unit: minute, requests_per_unit: 3}
                """)
            .input("in.csv", "time,u\n1,a\n2,a\n3,a\n4,b\n5,b\n")
            .traffic(
                options -> options.descriptor("user={u}").descriptor("all\\,of them=everybody"))
            .run();
    assertThat(Files.readString(trial.decisionsFile()))
        .isEqualTo(
            """
            line,timestamp_ms,outcome,reason,policy,limit,remaining,retry_after_ms
            2,1000,ALLOWED,WITHIN_LIMIT,per user,2,1,0
            3,2000,ALLOWED,WITHIN_LIMIT,per user,2,0,0
            4,3000,DENIED,OVER_LIMIT,per user,2,0,58000
            5,4000,ALLOWED,WITHIN_LIMIT,"total, ""all""\",3,0,0
            6,5000,DENIED,OVER_LIMIT,"total, ""all""\",3,0,56000
            """);
    assertThat(summary.policies().stream().map(each -> each.requests() + " " + each.denied()))
        .containsExactly("5 1", "5 1");
    assertThat(summary.refusedKeys().stream().map(each -> each.policy() + ": " + each.key()))
        .containsExactly("total, \"all\": all,of them=everybody", "per user: user=a");
  }

  @Test
  void whatNoRuleLimits_passes() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: key
                    value: staff
                    rate_limit: {unlimited: true}
                """)
            .input("in.csv", "time,k\n1,staff\n2,x\n")
            .run();
    assertThat(Files.readAllLines(trial.decisionsFile()))
        .containsExactly(
            DecisionsWriter.HEADER,
            "2,1000,ALLOWED,WITHIN_LIMIT,,,,",
            "3,2000,ALLOWED,WITHIN_LIMIT,,,,");
    assertThat(summary.counts().unlimited()).isEqualTo(2);
    assertThat(summary.text()).contains("without a limit");
  }

  @Test
  void shadowMode_passesAndIsCounted() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: key
                    shadow_mode: true
                    rate_limit: {unit: minute, requests_per_unit: 1}
                """)
            .input("in.csv", "time,k\n1,a\n2,a\n3,a\n")
            .run();
    assertThat(Files.readAllLines(trial.decisionsFile()).get(2))
        .isEqualTo("3,2000,ALLOWED,SHADOW,d.key,1,0,0");
    assertThat(summary.counts().shadowDenied()).isEqualTo(2);
    assertThat(summary.counts().denied()).isZero();
    assertThat(summary.policies().get(0).shadowDenied()).isEqualTo(2);
    assertThat(summary.busiestWindows().get(0).denied()).isEqualTo(2);
  }

  @Test
  void levelThatIsShared_isOneKey() throws Exception {
    ReplaySummary summary =
        trial
            .rulesText(
                """
                domain: d
                descriptors:
                  - key: key
                    value: bot*
                    share_threshold: true
                    rate_limit: {unit: minute, requests_per_unit: 1}
                """)
            .input("in.csv", "time,k\n1,bot1\n2,bot2\n")
            .run();
    assertThat(summary.refusedKeys().get(0).key()).isEqualTo("key=bot*");
  }

  @Test
  void keysBeyondTheMost_areRefusedForTrouble() throws Exception {
    ReplaySummary summary =
        trial
            .input("in.csv", "time,k\n1,a\n2,b\n3,c\n")
            .options(options -> options.maxKeys(2))
            .run();
    assertThat(trial.rows().get(2).reason()).isEqualTo("KEY_SPACE_FULL");
    assertThat(summary.counts().deniedForTrouble()).isEqualTo(1);
    assertThat(summary.text()).contains("refused for another reason");
  }

  @Test
  void everyFormat_givesTheSameDecisions() throws Exception {
    List<String> csv = new ArrayList<>(List.of("time,ip"));
    List<String> tsv = new ArrayList<>(List.of("ip\ttime"));
    List<String> jsonl = new ArrayList<>();
    List<String> combined = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      long second = 1_431_857_103L + 2L * i;
      String ip = i % 3 == 0 ? "2001:db8::" + i % 7 : "192.0.2." + i % 5;
      csv.add(second * 1000 + "," + ip);
      tsv.add(ip + "\t" + Instant.ofEpochSecond(second));
      jsonl.add("{\"ip\":\"" + ip + "\",\"time\":" + second + ".000}");
      combined.add(ip + " - - [" + Trial.accessLogTime(second) + "] \"GET / HTTP/1.1\" 200 -");
    }
    List<List<String>> decisions = new ArrayList<>();
    for (List<String> lines : List.of(csv, tsv, jsonl, combined)) {
      String text = String.join("\r\n", lines);
      for (byte[] bytes : List.of(text.getBytes(StandardCharsets.UTF_8), gzip(text))) {
        for (String name : List.of("access.log", Traffic.STANDARD_INPUT)) {
          trial.input(name, bytes).traffic(t -> t.descriptor("key={ip}").timeUnit(null)).run();
          decisions.add(
              trial.rows().stream()
                  .map(row -> row.timestampMs() + " " + row.outcome() + " " + row.retryAfterMs())
                  .toList());
        }
      }
    }
    assertThat(decisions).hasSize(16);
    assertThat(decisions.get(0)).hasSize(300).anyMatch(row -> row.contains("DENIED"));
    assertThat(decisions).allMatch(each -> each.equals(decisions.get(0)));
  }

  @Test
  void compressedInputThatBreaksOff_givesWhatItHolds() throws Exception {
    StringBuilder text = new StringBuilder("time,k\n");
    for (int i = 0; i < 50_000; i++) {
      text.append(i).append(',').append(Integer.toHexString(31 * i * i)).append('\n');
    }
    byte[] whole = gzip(text.toString());
    ReplaySummary summary = trial.input("in.csv.gz", Arrays.copyOf(whole, whole.length / 2)).run();
    long requests = summary.counts().requests();
    assertThat(requests).isBetween(10_000L, 40_000L);
    assertThat(summary.unreadableLines())
        .containsExactly(
            new ReplaySummary.UnreadableLine(
                folder.resolve("in.csv.gz").toString(),
                requests + 2,
                "the compressed input ends early or is damaged from here on"));
    byte[] damaged = whole.clone();
    Arrays.fill(damaged, whole.length / 2, whole.length / 2 + 100, (byte) 0x55);
    assertThat(trial.input("in.csv.gz", damaged).run().counts().unreadable()).isPositive();
    assertThatThrownBy(() -> trial.input("in.csv.gz", Arrays.copyOf(whole, 5)).run())
        .isInstanceOf(TrafficException.class)
        .hasMessageContaining("header in line 1 cannot be read: the compressed input ends early");
  }

  @Test
  void headerAlone_isAnEmptyReplay() throws Exception {
    ReplaySummary summary = trial.input("in.csv", "time,k\n").run();
    assertThat(summary.counts())
        .isEqualTo(new ReplaySummary.Counts(0, 0, 0, 0, 0, 0, 0, 0, 0, null, null));
    assertThat(summary.text()).contains("requests  0");
    assertThat(summary.json()).contains("\"first_time\" : null");
    assertThat(trial.rows()).isEmpty();
    assertThat(
            trial
                .input("in.log", "")
                .traffic(options -> options.descriptor("key={ip}").format(Format.COMBINED))
                .run()
                .counts()
                .requests())
        .isZero();
  }

  @Test
  void sameInput_givesTheSameOutputByteForByte() throws Exception {
    StringBuilder text = new StringBuilder("time,k\n");
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 20_000; i++) {
      text.append(i / 50 - random.nextInt(3)).append(",k").append(random.nextInt(500)).append('\n');
    }
    trial.input("in.csv", text.toString());
    ReplaySummary first = trial.run();
    byte[] firstRows = Files.readAllBytes(trial.decisionsFile());
    ReplaySummary second = trial.run();
    assertThat(Files.readAllBytes(trial.decisionsFile())).isEqualTo(firstRows);
    assertThat(second.json()).isEqualTo(first.json());
    assertThat(second.text()).isEqualTo(first.text());
  }

  @Test
  void text_isForPeopleAndCannotSteerTheirTerminal() throws Exception {
    ReplaySummary summary =
        trial
            .input(
                "in.jsonl",
                "{\"time\":\"1970-01-01T00:00:01Z\",\"k\":\"\\u001b[2J\"}\n".repeat(4)
                    + "{\"time\":\"\\u001b[31m\",\"k\":1}\n")
            .run();
    assertThat(summary.text())
        .isEqualTo(
            """
              requests    4
              allowed     2  50.00 %
              refused     2  50.00 %
              unreadable  1
              from 1970-01-01T00:00:01Z to 1970-01-01T00:00:01Z
              format jsonl, time in column time in seconds

            policies
              policy  limit        algorithm       requests  refused    share  shadow
              lim     2 per 1 min  sliding-window         4        2  50.00 %       0

            most refused keys
              refused  policy  key
                    2  lim     key=\\u001b[2J

            busiest windows
              permits  requests  refused  from                  for    policy  key
                    4         4        2  1970-01-01T00:00:00Z  1 min  lim     key=\\u001b[2J

            unreadable
              line 5: time: "\\u001b[31m" (expected: epoch seconds or milliseconds, \
            2015-05-17T10:05:03Z, 2015-05-17 10:05:03, 17/May/2015:10:05:03 +0000 or \
            Sun, 17 May 2015 10:05:03 GMT)
            """);
  }

  @Test
  void json_saysEverythingButTheTimeTaken() throws Exception {
    String json = trial.input("in.csv", "time,k\n0.5,a\n0.5,a\n0.75,a\nx,\n").run().json();
    assertThat(json.replace(folder + "/", ""))
        .isEqualTo(
            """
            {
              "format" : "csv",
              "time_column" : "time",
              "time_unit" : "seconds",
              "notes" : [ ],
              "requests" : 3,
              "allowed" : 2,
              "denied" : 1,
              "denied_share" : 0.333333,
              "denied_for_trouble" : 0,
              "shadow_denied" : 0,
              "tolerated" : 0,
              "unlimited" : 0,
              "unreadable" : 1,
              "out_of_order" : 0,
              "first_time" : "1970-01-01T00:00:00.500Z",
              "last_time" : "1970-01-01T00:00:00.750Z",
              "stopped" : false,
              "policies" : [
                {
                  "policy" : "lim",
                  "path" : "d.key",
                  "algorithm" : "sliding-window",
                  "permits" : 2,
                  "window_nanos" : 60000000000,
                  "requests" : 3,
                  "denied" : 1,
                  "shadow_denied" : 0,
                  "throttle" : "hard",
                  "bound" : 2,
                  "tolerated" : 0
                }
              ],
              "refused_keys" : [
                {
                  "policy" : "lim",
                  "key" : "key=a",
                  "denied" : 1
                }
              ],
              "refused_keys_exact" : true,
              "busiest_windows" : [
                {
                  "policy" : "lim",
                  "key" : "key=a",
                  "start" : "1970-01-01T00:00:00Z",
                  "window_nanos" : 60000000000,
                  "permits" : 3,
                  "requests" : 3,
                  "denied" : 1
                }
              ],
              "busiest_windows_complete" : true,
              "unreadable_lines" : [
                {
                  "input" : "in.csv",
                  "line" : 5,
                  "reason" : "time: \\"x\\" (expected: epoch seconds or milliseconds, \
            2015-05-17T10:05:03Z, 2015-05-17 10:05:03, 17/May/2015:10:05:03 +0000 or \
            Sun, 17 May 2015 10:05:03 GMT)"
                }
              ],
              "warnings" : [
                "unreadable: 1 of 4 lines: in.csv line 5: time: \\"x\\" (expected: epoch seconds or \
            milliseconds, 2015-05-17T10:05:03Z, 2015-05-17 10:05:03, 17/May/2015:10:05:03 +0000 or \
            Sun, 17 May 2015 10:05:03 GMT)",
                "descriptor key={k}: all 3 records have the same key, \\"a\\" (expected: a column \
            that tells clients apart; 'weir inspect' shows them)",
                "rule lim (d.key): its window of 1 min is longer than the traffic, 250.0 ms; what \
            it would refuse later cannot be seen"
              ]
            }
            """);
  }

  @Test
  void progress_endsWithEverythingRead() throws Exception {
    List<long[]> heard = new ArrayList<>();
    String text = "time,k\n" + "1,a\n".repeat(50_000);
    trial.input("in.csv", text);
    trial.run((bytes, total, records) -> heard.add(new long[] {bytes, total, records}));
    assertThat(heard).hasSizeGreaterThan(10);
    assertThat(heard.get(heard.size() - 1)).containsExactly(text.length(), text.length(), 50_000L);
    for (int i = 1; i < heard.size(); i++) {
      assertThat(heard.get(i)[0]).isGreaterThanOrEqualTo(heard.get(i - 1)[0]);
      assertThat(heard.get(i)[2]).isGreaterThanOrEqualTo(heard.get(i - 1)[2]);
    }
  }

  @Test
  void everythingWrongWithTheOptions_isSaidAtOnce() throws Exception {
    trial
        .rulesText("domain: e\n")
        .traffic(options -> options.descriptor("key").permits("-1"))
        .options(options -> options.maxKeys(0));
    assertThatThrownBy(trial::run)
        .isInstanceOfSatisfying(
            TrafficException.class,
            e ->
                assertThat(e.problems())
                    .containsExactly(
                        "descriptor: \"key\" (expected: key={column}[,key2={column2}])",
                        "permits: \"-1\" (expected: a whole number from 0 to 999999999999999999,"
                            + " or a column like {bytes})",
                        "domain: \"d\" (expected: one in the rules: e)",
                        "maxKeys: 0 (expected: at least 1)"));
    trial.rulesText("domain: [\n").traffic(options -> options);
    assertThatThrownBy(trial::run)
        .isInstanceOf(TrafficException.class)
        .hasMessageContaining("rules.yaml:");
  }

  @Test
  void unknownColumns_areSaidWithThoseThereAre() throws Exception {
    trial
        .input("in.csv", "when,who\n1,a\n")
        .traffic(options -> options.descriptor("key={user}").permits("{cost}"));
    assertThatThrownBy(trial::run)
        .isInstanceOfSatisfying(
            TrafficException.class,
            e ->
                assertThat(e.problems())
                    .containsExactly(
                        "time: no column has a usual name for it"
                            + " (expected: --time with one of when, who)",
                        "column \"user\": unknown (expected: one of when, who)",
                        "column \"cost\": unknown (expected: one of when, who)"));
    trial.traffic(options -> options.time("wen").descriptor("key={who}"));
    assertThatThrownBy(trial::run)
        .hasMessage("column \"wen\": unknown (expected: one of when, who)");
    trial.traffic(options -> options.time("when:ms").descriptor("key={who}"));
    trial.run();
    assertThat(trial.rows().get(0).timestampMs()).isEqualTo(1);
  }

  @Test
  void inputThatIsNone_isSaid() throws Exception {
    trial.inputFile(folder.resolve("missing.csv"));
    assertThatThrownBy(trial::run)
        .isInstanceOf(TrafficException.class)
        .hasMessageEndingWith("missing.csv (expected: an existing file)");
    trial.inputFile(folder);
    assertThatThrownBy(trial::run).hasMessageEndingWith("(expected: a file, not a folder)");
  }

  @Test
  void decisions_neverOverwriteWhatIsRead() throws Exception {
    trial.input("in.csv", "time,k\n1,a\n");
    trial.options(options -> options.decisions(folder.resolve("in.csv")));
    assertThatThrownBy(trial::run).hasMessageEndingWith("in.csv (expected: not what is read)");
    trial.options(options -> options.decisions(folder.resolve("rules.yaml")));
    assertThatThrownBy(trial::run).hasMessageEndingWith("rules.yaml (expected: not what is read)");
    assertThat(Files.readString(folder.resolve("in.csv"))).isEqualTo("time,k\n1,a\n");
    trial.options(options -> options.decisions(folder));
    assertThatThrownBy(trial::run).hasMessageEndingWith("(expected: a file, not a folder)");
  }

  @Test
  void warningsOfTheRules_areHandedOn() throws Exception {
    ReplaySummary summary = trial.input("in.csv", "time,k\n1,a\n").run();
    assertThat(Trial.ruleWarnings(summary)).isEmpty();
    ReplaySummary doubtful = trial.rulesText(Trial.rules("", 0, "minute")).run();
    assertThat(Trial.ruleWarnings(doubtful))
        .singleElement()
        .asString()
        .contains("rules.yaml:", "requests_per_unit: 0");
    assertThat(doubtful.counts().denied()).isEqualTo(1);
    assertThat(summary.timeTaken()).isPositive();
    assertThat(summary.recordsPerSecond()).isPositive();
  }

  @Test
  void recordBeyondTheHorizon_isCountedAsUnreadable() throws Exception {
    ReplaySummary summary =
        trial.input("in.csv", "time,k\n2078-01-01,a\n2090-01-01,a\n2091-01-01,a\n").run();
    assertThat(summary.counts().requests()).isEqualTo(1);
    assertThat(summary.counts().unreadable()).isEqualTo(2);
    assertThat(summary.unreadableLines().get(0).reason())
        .isEqualTo("time: \"2090-01-01\" (expected: from 1860 to 2079)");
  }

  @Test
  void reportOfAFolderOfRules_showsOnlyFilesThatWereLoaded() throws Exception {
    Path rules = Files.createDirectory(folder.resolve("rules"));
    Files.writeString(rules.resolve("a.yaml"), Trial.rules("", 2, "minute"));
    Files.writeString(rules.resolve(".draft.yaml"), "# a draft that nobody loads\n");
    Files.createDirectory(rules.resolve("more.yaml"));
    Path log = Files.writeString(folder.resolve("in.csv"), "time,k\n1,a\n");
    Path report = folder.resolve("report.html");
    Replay.run(
        ReplayOptions.builder(
                Traffic.builder(log.toString())
                    .timeUnit(TimeUnit.SECONDS)
                    .anyOrder(true)
                    .descriptor("key={k}")
                    .build(),
                "d")
            .rules(rules)
            .report(report)
            .build(),
        Progress.NONE);
    assertThat(Files.readString(report)).contains("a.yaml").doesNotContain("draft");
  }
}
