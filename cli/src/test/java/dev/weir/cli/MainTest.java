package dev.weir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.cli.command.JsonObject;
import dev.weir.server.ServerOptions;
import dev.weir.server.settings.ServerOption;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MainTest {
  @Test
  void version_namesWeirAndJava() {
    Ran ran = Ran.weir("--version");

    assertThat(ran.status()).isZero();
    assertThat(ran.out()).matches("(?s)weir \\d+\\.\\d+\\.\\d+\\S*\\RJava \\d+.*");
  }

  @Test
  void help_listsEveryCommand() {
    Ran ran = Ran.weir("help");

    assertThat(ran.status()).isZero();
    assertThat(ran.out())
        .contains("serve", "check", "lint", "explain", "replay", "bench")
        .contains("generate", "compare", "suggest")
        .contains("rules", "limits", "tokens", "audit", "config");
  }

  @Test
  void help_ofACommand_showsItsFlags() {
    assertThat(Ran.weir("help", "replay").out()).contains("--decisions", "--permits");
    String serve = Ran.weir("help", "serve").out();
    for (ServerOption setting : ServerOptions.all()) {
      assertThat(serve).contains(setting.flag(), setting.variable(), setting.envoyVariable());
    }
  }

  @Test
  void help_ofEveryCommand_isFormattedWithoutAWarning() {
    PrintStream err = System.err;
    ByteArrayOutputStream warnings = new ByteArrayOutputStream();
    System.setErr(new PrintStream(warnings, true, StandardCharsets.UTF_8));
    try {
      Main.commandLine()
          .getSubcommands()
          .forEach(
              (name, command) -> {
                Ran.weir("help", name);
                command.getSubcommands().keySet().forEach(each -> Ran.weir(name, each, "--help"));
              });
    } finally {
      System.setErr(err);
    }
    assertThat(warnings.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  void demo_isTheDemonstrationOfACluster() {
    assertThat(Main.named(new String[] {"demo", "cluster", "--members", "1"}))
        .isEqualTo(Main.named(new String[] {"demo", "--members", "1"}))
        .containsExactly("cluster", "demo", "--members", "1");
    assertThat(Main.named(new String[] {"demo"})).containsExactly("cluster", "demo");
    assertThat(Main.named(new String[] {"check", "demo"})).containsExactly("check", "demo");
    assertThat(Main.named(new String[0])).isEmpty();
    assertThat(Ran.weir("cluster", "demo", "--help").out()).containsOnlyOnce("weir demo cluster");
  }

  @Test
  void wrongUsage_exitsWithTwoAndShowsTheRightOne() {
    Map<List<String>, String> wrong =
        Map.of(
            List.of(), "Rule files:",
            List.of("serv"), "serve",
            List.of("rules"), "one of push, pull, diff, log, rollback",
            List.of("lint"), "See 'weir lint --help'.",
            List.of("serve", "--prot", "1"), "--port",
            List.of("serve", "--port", "99999"), "0..65535",
            List.of("explain", "--rules", "r", "--domain", "d", "--descriptor", "x"), "key=value",
            List.of("replay", "--rules", "r", "--input", "i", "--domain", "d"), "descriptor: none",
            List.of(
                    "replay",
                    "--rules",
                    "r",
                    "--input",
                    "i",
                    "--domain",
                    "d",
                    "--descriptor",
                    "k={c}",
                    "--format",
                    "xml"),
                "one of auto, combined, vhost, nginx-ingress,");
    wrong.forEach(
        (arguments, hint) -> {
          Ran ran = Ran.weir(arguments.toArray(new String[0]));
          assertThat(ran.status()).as("%s", arguments).isEqualTo(2);
          assertThat(ran.err()).as("%s", arguments).contains(hint);
          assertThat(ran.out()).isEmpty();
        });
  }

  @Test
  void wrongFlag_isAnsweredInAtMostThreeLines() {
    for (String[] arguments :
        new String[][] {
          {"bench", "--duratoin", "1s"}, {"bench", "--duration", "1"}, {"replay", "--nonsense"}
        }) {
      Ran ran = Ran.weir(arguments);
      assertThat(ran.err().lines()).as("%s", List.of(arguments)).hasSizeBetween(2, 3);
      assertThat(ran.err()).startsWith("weir: ").contains(" --help'.");
    }
    assertThat(Ran.weir("bench", "--duratoin", "1s").err())
        .contains("did you mean \"--duration\"?");
  }

  @Test
  void wrongArguments_areNamedInTheWordsOfAllMessages() {
    Map<List<String>, String> wrong = new LinkedHashMap<>();
    wrong.put(
        List.of("serv"),
        "command: serv (expected: a command that 'weir help' lists; did you mean \"serve\"?)");
    wrong.put(
        List.of("help", "nope"), "command: nope (expected: a command that 'weir help' lists)");
    wrong.put(
        List.of("rules", "pul"),
        "command: pul (expected: one of push, pull, diff, log, rollback; did you mean \"pull\"?)");
    wrong.put(
        List.of("serve", "--prot", "1"),
        "--prot: unknown (expected: a flag of 'weir serve'; did you mean \"--port\"?)");
    wrong.put(
        List.of("serve", "--prot=1", "--hst", "h"),
        "--prot: unknown (expected: a flag of 'weir serve'; did you mean \"--port\"?)\n"
            + "weir: --hst: unknown (expected: a flag of 'weir serve'; did you mean \"--host\"?)");
    wrong.put(List.of("serve", "--port"), "--port: no value (expected: N|off)");
    wrong.put(List.of("version", "extra"), "argument: extra (expected: only flags)");
    wrong.put(List.of("man", "man"), "argument: man (expected: only flags)");
    wrong.put(
        List.of("lint"),
        "FILE: missing (expected: rule files, or folders of *.yaml and *.yml files; checked as one"
            + " set)");
    wrong.put(
        List.of("explain", "--rules", "r", "--descriptor", "a=b"),
        "--domain: missing (expected: the request's domain)");
    wrong.put(List.of("check", "--domain"), "--domain: no value (expected: a value)");
    wrong.put(
        List.of("replay", "--rulse", "r", "--domain", "d"),
        "--rulse: unknown (expected: a flag of 'weir replay'; did you mean \"--rules\"?)");
    wrong.put(
        List.of("lint", "--format", "xml", "f"),
        "--format: xml (expected: one of text, json, sarif, github)");
    wrong.put(List.of("check", "--timeout", "1.5"), "--timeout: 1.5 (expected: a whole number)");
    wrong.put(List.of("generate", "--rate", "x"), "--rate: x (expected: a number)");
    wrong.put(
        List.of("generate", "--rate", "1", "--rate", "2"), "--rate: given twice (expected: once)");
    wrong.forEach(
        (arguments, problem) -> {
          Ran ran = Ran.weir(arguments.toArray(new String[0]));
          assertThat(ran.status()).as("%s", arguments).isEqualTo(2);
          assertThat(ran.err()).as("%s", arguments).startsWith("weir: " + problem + "\nSee 'weir");
        });
  }

  @Test
  void passwordOfAStore_isNotRepeatedInErrors() {
    String uri = "redis://ann:secret@h";
    for (String[] arguments :
        new String[][] {
          {"serve", "--stor", uri}, {"serve", "--port", uri}, {"serve", uri}, {"serv", uri}
        }) {
      Ran ran = Ran.weir(arguments);
      assertThat(ran.status()).isEqualTo(2);
      assertThat(ran.err()).contains("weir: ").doesNotContain("secret");
    }
  }

  @Test
  void lint_problems_exitsWithOneAndShowsAll(@TempDir Path folder) throws Exception {
    Path broken =
        Files.writeString(
            folder.resolve("broken.yaml"),
            """
            domain: d
            descriptors:
              - key: a
                rate_limit: {unit: minut, requests_per_unit: -1}
              - kee: b
            """);

    Ran ran = Ran.weir("lint", broken.toString());

    assertThat(ran.status()).isEqualTo(1);
    assertThat(ran.out())
        .contains("broken.yaml:4:", "minut", "requests_per_unit: -1", "broken.yaml:5:", "kee");
  }

  @Test
  void lint_warningsAlone_exitsWithZero(@TempDir Path folder) throws Exception {
    Path doubtful =
        Files.writeString(
            folder.resolve("doubtful.yaml"),
            """
            domain: d
            descriptors:
              - key: a
                rate_limit: {unit: minute, request_per_unit: 1}
            """);

    Ran ran = Ran.weir("lint", doubtful.toString());

    assertThat(ran.status()).isZero();
    assertThat(ran.out())
        .contains("doubtful.yaml:4:32: warning: request_per_unit: old name", "1 rule, 1 warning");
  }

  @Test
  void lint_strict_countsWarningsAsErrors(@TempDir Path folder) throws Exception {
    Path doubtful = doubtful(folder);
    assertThat(Ran.weir("lint", "--strict", doubtful.toString()).status()).isEqualTo(1);
    Files.writeString(doubtful, Files.readString(doubtful).replace("request_per", "requests_per"));
    assertThat(Ran.weir("lint", "--strict", doubtful.toString()).status()).isZero();
  }

  private static Path doubtful(Path folder) throws Exception {
    return Files.writeString(
        folder.resolve("a, b.yaml"),
        """
        domain: d
        descriptors:
          - key: a
            rate_limit: {unit: minute, request_per_unit: 1}
        """);
  }

  @Test
  void lint_formats_sayTheSame(@TempDir Path folder) throws Exception {
    String file = doubtful(folder).toString();
    String message = "request_per_unit: old name (expected: requests_per_unit)";
    assertThat(Ran.weir("lint", "--format", "github", file).out())
        .isEqualTo(
            "::warning file="
                + file.replace(",", "%2C")
                + ",line=4,col=32::"
                + message
                + System.lineSeparator());
    JsonObject json = JsonObject.read(Ran.weir("lint", "--format", "json", file).out());
    assertThat(json.number("rules")).isEqualTo(1);
    assertThat(json.number("errors")).isZero();
    assertThat(json.number("warnings")).isEqualTo(1);
    JsonObject problem = json.objects("problems").get(0);
    assertThat(problem.text("severity") + problem.text("file") + problem.text("message"))
        .isEqualTo("warning" + file + message);
    assertThat(problem.number("line") * 100 + problem.number("column")).isEqualTo(432);
    JsonObject sarif = JsonObject.read(Ran.weir("lint", "--format", "sarif", file).out());
    assertThat(sarif.text("version")).isEqualTo("2.1.0");
    JsonObject result = sarif.objects("runs").get(0).objects("results").get(0);
    assertThat(result.text("level")).isEqualTo("warning");
    JsonObject place = result.objects("locations").get(0).object("physicalLocation");
    assertThat(place.object("artifactLocation").text("uri")).endsWith("/a,%20b.yaml");
    assertThat(place.object("region").number("startLine")).isEqualTo(4);
    assertThat(Ran.weir("lint", "--format", "xml", file).status()).isEqualTo(2);
  }

  @Test
  void lint_standardInput_isReadAsAFile() {
    InputStream before = System.in;
    try {
      System.setIn(
          new ByteArrayInputStream("domain: d\ndescriptor: []\n".getBytes(StandardCharsets.UTF_8)));
      Ran ran = Ran.weir("lint", "-");
      assertThat(ran.status()).isEqualTo(1);
      assertThat(ran.out()).contains("stdin:2:1 descriptor:");
    } finally {
      System.setIn(before);
    }
    assertThat(Ran.weir("lint", "-", "other.yaml").status()).isEqualTo(2);
  }

  @Test
  void version_isAlsoACommand() {
    assertThat(Ran.weir("version").out()).isEqualTo(Ran.weir("--version").out());
  }

  @Test
  void completion_knowsEveryCommandInEachShell() {
    for (String shell : List.of("bash", "zsh", "fish")) {
      Ran ran = Ran.weir("completion", shell);
      assertThat(ran.status()).isZero();
      assertThat(ran.out()).contains(Main.commandLine().getSubcommands().keySet());
      assertThat(ran.out()).contains("rollback", "strict");
    }
    assertThat(Ran.weir("completion", "csh").status()).isEqualTo(2);
  }

  @Test
  void manualPage_hasEveryCommandAndFlag() {
    String page = Ran.weir("man").out();
    assertThat(page).startsWith(".TH WEIR 1 ").doesNotContain("%n", "${");
    Main.commandLine()
        .getSubcommands()
        .forEach(
            (name, command) -> {
              assertThat(page).contains(".SS \"weir " + name.replace("-", "\\-") + "\"");
              command
                  .getCommandSpec()
                  .options()
                  .forEach(
                      option ->
                          assertThat(page).contains(option.longestName().replace("-", "\\-")));
            });
  }

  @Test
  void commandLine_aCommandThatComesAloneIsTheSame() {
    CommandLine all = Main.commandLine();
    List<String> ofAll = List.of("help", "man", "completion");
    all.getSubcommands()
        .forEach(
            (name, command) -> {
              CommandLine some = Main.commandLine(new String[] {name, "--help"});
              assertThat(Objects.requireNonNull(some.getSubcommands().get(name)).getUsageMessage())
                  .isEqualTo(command.getUsageMessage());
              if (!ofAll.contains(name)) {
                assertThat(some.getSubcommands()).containsOnlyKeys(name);
              }
            });
    for (String each : List.of("help", "man", "completion", "lnit", "--help")) {
      assertThat(Main.commandLine(new String[] {each}).getSubcommands())
          .as(each)
          .hasSameSizeAs(all.getSubcommands());
    }
    assertThat(Main.commandLine(new String[0]).getSubcommands())
        .hasSameSizeAs(all.getSubcommands());
  }

  @Test
  void help_listsEveryCommandInItsGroup() {
    String help = Ran.weir("--help").out();
    assertThat(help).containsSubsequence("Run a server", "  serve ", "Rule files:", "  lint ");
    Main.commandLine()
        .getSubcommands()
        .keySet()
        .forEach(name -> assertThat(help).containsOnlyOnce("\n  " + name + " "));
    assertThat(help.lines().mapToInt(String::length).max().orElse(0)).isLessThan(100);
  }

  @Test
  void explain_tellsTheRule(@TempDir Path folder) throws Exception {
    Path rules =
        Files.writeString(
            folder.resolve("rules.yaml"),
            """
            domain: d
            descriptors:
              - key: path
                value: /a*
                rate_limit: {unit: minute, requests_per_unit: 5}
              - key: path
                rate_limit: {unit: minute, requests_per_unit: 9}
            """);

    Ran ran =
        Ran.weir(
            "explain", "--rules", rules.toString(), "--domain", "d", "--descriptor", "path=/ab");

    assertThat(ran.status()).isZero();
    assertThat(ran.out()).contains("d.path_/a*", "rules.yaml:3:");
  }

  @Test
  void explain_unknownDomain_isRefusedWithTheKnownOnes() {
    String rules = Path.of("..", "examples", "rules.yaml").toString();
    Ran ran = Ran.weir("explain", "--rules", rules, "--domain", "nope", "--descriptor", "ip=a");
    assertThat(ran.status()).isEqualTo(2);
    assertThat(ran.err())
        .isEqualTo(
            "weir: --domain: \"nope\" (expected: one in the rules: site)" + System.lineSeparator());
    assertThat(ran.out()).isEmpty();
  }

  @Test
  void replay_example_isTheSameEveryTime() {
    Path examples = Path.of("..", "examples");
    String[] arguments = {
      "replay",
      "--rules",
      examples.resolve("rules.yaml").toString(),
      "--input",
      examples.resolve("access.log").toString(),
      "--domain",
      "site",
      "--descriptor",
      "ip={ip}",
      "--descriptor",
      "path={path}"
    };

    Ran first = Ran.weir(arguments);
    Ran second = Ran.weir(arguments);

    assertThat(first.status()).isZero();
    assertThat(first.out()).contains("198.51.100.7", "per-client").isEqualTo(second.out());
    assertThat(first.err()).contains("270 records");
  }

  @Test
  void replay_missingInput_isOneClearError(@TempDir Path folder) throws Exception {
    Path rules =
        Files.writeString(folder.resolve("rules.yaml"), "domain: d\ndescriptors:\n  - key: a\n");

    Ran ran =
        Ran.weir(
            "replay",
            "--rules",
            rules.toString(),
            "--input",
            folder.resolve("nowhere.log").toString(),
            "--domain",
            "d",
            "--descriptor",
            "a={ip}");

    assertThat(ran.status()).isBetween(2, 3);
    assertThat(ran.err()).contains("nowhere.log").doesNotContain("at dev.weir");
  }

  /**
   * Checks the number of threads, because otherwise Java starts a thread for each step of each
   * entry of a log.
   */
  @Test
  void commonPool_hasTwoThreadsOnFewProcessors() {
    String before = System.getProperty(Main.COMMON_POOL);
    try {
      System.clearProperty(Main.COMMON_POOL);
      Main.shareThreads(4);
      assertThat(System.getProperty(Main.COMMON_POOL)).isNull();
      Main.shareThreads(2);
      assertThat(System.getProperty(Main.COMMON_POOL)).isEqualTo("2");
      System.setProperty(Main.COMMON_POOL, "5");
      Main.shareThreads(1);
      assertThat(System.getProperty(Main.COMMON_POOL)).as("as it was set").isEqualTo("5");
    } finally {
      if (before == null) {
        System.clearProperty(Main.COMMON_POOL);
      } else {
        System.setProperty(Main.COMMON_POOL, before);
      }
    }
  }
}
