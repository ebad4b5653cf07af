package dev.weir.cli.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cli.Main;
import dev.weir.cli.Ran;
import dev.weir.cli.command.CommandFailure;
import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A test of the commands that make and read traffic, as users call them. */
class TrafficCommandsTest {
  @TempDir Path folder;

  private Path generated() {
    Path file = folder.resolve("access.log");
    Ran ran =
        Ran.weir("generate", "--duration", "10m", "--clients", "50", "--output", file.toString());
    assertThat(ran.status()).as(ran.err()).isZero();
    return file;
  }

  @Test
  void generate_theSameFlags_giveTheSameBytes() throws IOException {
    String first = Files.readString(generated());
    assertThat(Files.readString(generated())).isEqualTo(first);
    assertThat(first.lines().count()).isGreaterThan(5_000);
    Path csv = folder.resolve("few.csv");
    Ran.weir(
        "generate",
        "--traffic",
        "herd,scraper",
        "--format",
        "csv",
        "--requests",
        "3",
        "--output",
        csv.toString());
    assertThat(Files.readAllLines(csv)).hasSize(4).first().asString().startsWith("time,ip,");
  }

  @Test
  void generate_wrongOptions_leavesTheFileAlone() throws IOException {
    Path file = Files.writeString(folder.resolve("precious"), "kept");
    Ran ran = Ran.weir("generate", "--rate", "0", "--output", file.toString());
    assertThat(ran.status()).isEqualTo(2);
    assertThat(file).hasContent("kept");
  }

  @Test
  void replay_severalInputsAndReport_writesThePage() throws IOException {
    String log = generated().toString();
    Path page = folder.resolve("report.html");
    Ran ran =
        Ran.weir(
            "replay",
            "--input",
            log,
            log,
            "--rules",
            Path.of("..", "examples", "site.yaml").toString(),
            "--domain",
            "site",
            "--descriptor",
            "ip={ip}",
            "--report",
            page.toString());
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(Files.readString(page)).contains("requests would be refused", "per-client");
  }

  @Test
  void compare_showsEveryAlgorithm() throws IOException {
    Path page = folder.resolve("compare.html");
    String log = generated().toString();
    Ran ran = Ran.weir("compare", "--input", log, "--limit", "30/1m", "--report", page.toString());
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out()).contains("each 30 per 1 min", "leaky-bucket", "sliding-window-log");
    assertThat(Files.readString(page)).contains("leaky-bucket");
    assertThat(Ran.weir("compare", "--input", log, "--limit", "30/1m", "--json").out())
        .startsWith("{");
  }

  @Test
  void suggest_showsRulesThatLintAccepts() throws IOException {
    String log = generated().toString();
    Ran ran = Ran.weir("suggest", "--input", log, "--refuse-at-most", "1%", "--window", "10s,1m");
    assertThat(ran.status()).as(ran.err()).isZero();
    String rules = ran.out().substring(ran.out().indexOf("domain: "));
    Path file = Files.writeString(folder.resolve("rules.yaml"), rules);
    assertThat(Ran.weir("lint", file.toString()).out()).contains("1 rule, 0 warnings");
    assertThat(Ran.weir("suggest", "--input", log, "--window", "1m", "--json").out())
        .contains("\"refuse_at_most\" : 0.001");
  }

  private static final Path EXAMPLES = Path.of("..", "examples");

  private static final String[] EXPORTS = {
    "--input",
    EXAMPLES.resolve("exports.log").toString(),
    "--layout",
    "ip time \"request\" status request_time",
    "--domain",
    "shop",
    "--descriptor",
    "ip={ip}"
  };

  private static Ran exports(String command, String... more) {
    List<String> arguments = new ArrayList<>(List.of(command));
    arguments.addAll(List.of(EXPORTS));
    arguments.addAll(List.of(more));
    return Ran.weir(arguments.toArray(new String[0]));
  }

  @Test
  void limitAtTheSameTime_isReplayedAndSuggested_asTheDocumentationShows() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "replay.md"));
    Ran replayed = exports("replay", "--rules", EXAMPLES.resolve("exports.yaml").toString());
    assertThat(replayed.status()).as(replayed.err()).isZero();
    Ran suggested = exports("suggest", "--refuse-at-most", "5%", "--window", "1m");
    assertThat(suggested.status()).as(suggested.err()).isZero();
    String out = replayed.out() + suggested.out();
    for (String heading : List.of("policy   limit  refused  most at once", "for each  limit for")) {
      List<String> rows = out.lines().toList();
      int row = 0;
      while (!rows.get(row).contains(heading)) {
        row++;
      }
      assertThat(page).contains(rows.get(row).strip(), rows.get(row + 1).strip());
    }
  }

  @Test
  void wrongMeaningOfTheTime_isOneClearError() {
    assertThat(exports("suggest", "--time-is", "middle").err())
        .startsWith("weir: --time-is: middle (expected: one of begin, end)");
    assertThat(exports("suggest", "--duration", "request_time:h").err())
        .startsWith(
            "weir: duration: \"request_time:h\" without a unit (expected: s, ms, us or ns behind it,"
                + " such as request_time:ms)");
  }

  @Test
  void inspect_showsTheCommandToGoOnWith() {
    Ran ran = Ran.weir("inspect", generated().toString());
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.out())
        .contains(": combined, ", "--descriptor 'ip={ip}'", "weir suggest --input");
    assertThat(Ran.weir("inspect", generated().toString(), "--json").out())
        .contains("\"candidates\" : [ \"ip\"");
    assertThat(Ran.weir("inspect").err()).contains("--input: missing");
  }

  @Test
  void strict_makesWarningsErrorsAndShowsTheResult() throws IOException {
    String[] replay = {
      "replay",
      "--rules",
      Path.of("..", "examples", "site.yaml").toString(),
      "--domain",
      "site",
      "--input",
      generated().toString(),
      "--descriptor",
      "Ip={ip}",
      "--strict"
    };
    Ran ran = Ran.weir(replay);
    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out()).contains("requests");
    assertThat(ran.err())
        .contains(
            "weir: warning: descriptor Ip={ip}: no rule of domain \"site\" limits it, did you mean"
                + " \"ip\"?",
            "no record reached it, did you mean \"Ip\"?");
    replay[replay.length - 1] = "--sort";
    assertThat(Ran.weir(replay).status()).isZero();
  }

  @Test
  void replay_newestFirst_isRefusedAndOffersSorting() throws IOException {
    Path file = folder.resolve("in.csv");
    Files.writeString(file, "time,ip\n1700000009,192.0.2.1\n1700000001,192.0.2.2\n");
    Ran ran = Ran.weir("suggest", "--input", file.toString());
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.err()).contains("order: 1 of 2 records", "--sort");
    assertThat(Ran.weir("suggest", "--sort", "--input", file.toString()).status()).isZero();
  }

  @Test
  void inputOfWhichNothingIsRead_isAnErrorOfEachCommand() throws IOException {
    Path file = folder.resolve("access.log");
    Files.writeString(file, "INFO: 192.0.2.1:53273 - \"GET /a HTTP/1.1\" 200 OK\n".repeat(5));
    String rules = Path.of("..", "examples", "site.yaml").toString();
    List<String> input = List.of("--input", file.toString(), "--format", "combined");
    List<List<String>> commands =
        List.of(
            List.of("inspect"),
            List.of("suggest"),
            List.of("compare", "--limit", "10/1m"),
            List.of("replay", "--rules", rules, "--domain", "site", "--descriptor", "ip={ip}"));
    for (List<String> command : commands) {
      List<String> arguments = new ArrayList<>(command);
      arguments.addAll(input);
      Ran ran = Ran.weir(arguments.toArray(new String[0]));
      assertThat(ran.status()).as("%s", command).isEqualTo(2);
      assertThat(ran.err())
          .as("%s", command)
          .contains("input: no record can be read", "time: no [");
    }
  }

  @Test
  void zoneAndLayout_areFlagsOfEachCommand() throws IOException {
    Path file = folder.resolve("access.log");
    Files.writeString(file, "2026/11/27 06:14:49 \"GET /a HTTP/1.1\" from 192.0.2.1:53273\n");
    String layout = "time time \"request\" - client";
    Ran utc = Ran.weir("inspect", file.toString(), "--layout", layout);
    assertThat(utc.status()).as(utc.err()).isZero();
    assertThat(utc.out())
        .contains("from 2026-11-27T06:14:49Z", "time: no zone in the times; read as UTC");
    Ran local = Ran.weir("inspect", file.toString(), "--layout", layout, "--zone", "+02:00");
    assertThat(local.out())
        .contains("from 2026-11-27T04:14:49Z", "--layout '" + layout + "' --zone +02:00")
        .doesNotContain("read as UTC");
    String rules = Path.of("..", "examples", "site.yaml").toString();
    Ran replay =
        Ran.weir(
            "replay",
            "--rules",
            rules,
            "--domain",
            "site",
            "--descriptor",
            "ip={ip}",
            "--json",
            "--input",
            file.toString(),
            "--layout",
            layout);
    assertThat(replay.status()).as(replay.err()).isZero();
    assertThat(replay.out()).contains("\"notes\" : [", "read as UTC");
  }

  @Test
  void wrongUsage_isOneClearError() {
    String log = generated().toString();
    Map<List<String>, String> wrong = new HashMap<>();
    wrong.put(
        List.of("generate", "--duration", "3650d"), "--duration: 3650d (expected: 1ms..366d, ");
    wrong.put(List.of("generate", "--window", "0s"), "--window: 0s (expected: 1ms..366d, ");
    wrong.put(
        List.of("compare", "--input", log, "--limit", "30/9999h"),
        "--limit: window: 9999h (expected: 1ms..366d, ");
    wrong.put(
        List.of("suggest", "--input", log, "--window", "1m,367d"),
        "--window: 367d (expected: 1ms..366d, ");
    wrong.put(
        List.of("inspect", log, "--zone", "Mars"), "--zone: \"Mars\" (expected: the name of a");
    wrong.put(
        List.of("inspect", log, "--layout", "ip ("), "layout: \"ip (\" (expected: not \"(\";");
    wrong.putAll(
        Map.of(
            List.of("compare", "--input", log, "--limit", "30"), "expected: N/WINDOW",
            List.of("compare", "--input", log, "--limit", "30/1x"), "--limit: window: 1x (expected",
            List.of("compare", "--input", log), "--limit",
            List.of("suggest", "--input", log, "--refuse-at-most", "200%"), "0%..100%",
            List.of("suggest", "--input", log, "--algorithm", "magic"), "--algorithm: magic",
            List.of("suggest", "--input", log, "--window", "0s"), "window",
            List.of("generate", "--traffic", "flood"), "--traffic: flood (expected: one of",
            List.of("generate", "--start", "today"), "--start: today (expected: a time in UTC",
            List.of("generate", "--rate", "0"), "rate: 0.0 (expected: above 0",
            List.of("generate", "--duration", "1y"), "--duration: 1y (expected"));
    wrong.forEach(
        (arguments, hint) -> {
          Ran ran = Ran.weir(arguments.toArray(new String[0]));
          assertThat(ran.status()).as("%s", arguments).isEqualTo(2);
          assertThat(ran.err()).as("%s", arguments).contains(hint);
          assertThat(ran.out()).as("%s", arguments).isEmpty();
        });
  }

  /** Tests an interrupt that closes the channel being read, whose exception has no message. */
  @Test
  void stopBeforeTheFirstByte_isSaidInWords() {
    TrafficCommand command =
        new TrafficCommand() {
          @Override
          List<String> run() throws ClosedByInterruptException {
            throw new ClosedByInterruptException();
          }
        };
    assertThatThrownBy(command::call)
        .isInstanceOf(CommandFailure.class)
        .hasMessage("stopped before anything was read");
  }

  /** Tests a signal while the pipe stays open: only the signal can end the reading. */
  @Test
  void replay_stoppedByASignal_showsWhatItHasRead() throws Exception {
    Path errors = folder.resolve("err");
    String rules = Path.of("..", "examples", "site.yaml").toString();
    ChildProcess.Builder replay =
        ChildProcess.java(
            Main.class,
            "replay",
            "--rules",
            rules,
            "--domain",
            "site",
            "--descriptor",
            "ip={ip}",
            "--time-unit",
            "s",
            "--input",
            "-");
    try (ChildProcess process = replay.errors(Redirect.to(errors.toFile())).start()) {
      StringBuilder records = new StringBuilder("time,ip\n");
      for (int i = 0; i < 300_000; i++) {
        records.append(i).append(",192.0.2.").append(i % 100).append('\n');
      }
      // The pipe and its buffers hold less than this, so the reading is under way.
      process.write(records.toString());
      process.terminate();
      assertThat(process.endsWithin(Duration.ofMinutes(2))).as("ended").isTrue();
      assertThat(process.exitStatus()).as("by signal 15").isEqualTo(143);
      assertThat(process.output()).contains("stopped before the end of the input", "per-client");
    }
    assertThat(Files.readString(errors)).contains(" records in ");
  }
}
