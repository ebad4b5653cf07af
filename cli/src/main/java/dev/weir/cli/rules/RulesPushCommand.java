package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.JsonObject;
import dev.weir.config.Json;
import dev.weir.rules.ValueErrors;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

@Command(
    name = "push",
    mixinStandardHelpOptions = true,
    description = {
      "Makes rule files the newest revision of a server's store, and shows what that changes.",
      "",
      "Files that only the store has are deleted there, so that it has these files and no"
          + " others; --keep leaves them.",
      "",
      "Exit status: 0 if done or if there is nothing to do, 1 if the rules have errors, somebody"
          + " else was faster, or a server does not have them (--wait).",
      ""
    })
final class RulesPushCommand extends AdminCommand {
  @Parameters(
      paramLabel = "DIR|FILE",
      arity = "1..*",
      description = "Rule files, or folders of *.yaml and *.yml files.")
  private List<Path> paths = List.of();

  @Option(names = "--keep", description = "Keep files that only the store has.")
  private boolean keep;

  @Option(names = "--dry-run", description = "Only show what would change.")
  private boolean dryRun;

  @Option(
      names = "--rollout",
      paramLabel = "SHARE",
      description =
          "Begin with this share of the live servers, such as 10%%; the others follow after"
              + " --rollout-time, or all go back if the first refuse more than"
              + " --max-refused-rise.")
  private @Nullable String rollout;

  @Option(
      names = "--rollout-time",
      paramLabel = "TIME",
      description = "How long the first servers are watched, such as 5m. Default: 5m")
  private @Nullable String rolloutTime;

  @Option(
      names = "--max-refused-rise",
      paramLabel = "SHARE",
      description = "By how much the refused share may rise. Default: 1%%")
  private @Nullable String maxRefusedRise;

  @Mixin private final WriteFlags write = new WriteFlags();

  @Override
  public int run() throws InterruptedException {
    Map<String, Object> asked = rollout();
    String reason = dryRun ? "" : write.reason();
    RuleTexts local = RuleTexts.read(paths);
    if (local.parse(err()) == null) {
      return Main.FOUND;
    }
    AdminClient client = server().client();
    StoredRules stored = StoredRules.newest(client, local);
    RuleTexts target = keep ? local.orElse(stored.texts()) : local;
    if (keep && target.parse(err()) == null) {
      return Main.FOUND;
    }
    List<String> diff = stored.texts().diff(target);
    if (diff.isEmpty()) {
      showResult(stored.revision(), "the store has these files already", diff, false);
      return 0;
    }
    if (dryRun) {
      JsonObject checked =
          client.call("POST", "/rules/check", Map.of(), check(target), Set.of()).json();
      if (!checked.isTrue("valid")) {
        AdminClient.Problems.lines(checked).forEach(err()::println);
        err().println("the server, which may be of another version, refuses these rules");
        return Main.FOUND;
      }
      showResult(stored.revision(), "would change", diff, false);
      return 0;
    }
    AdminClient.Answer answer =
        client.call(
            "PATCH",
            "/rules" + write.query(client),
            Map.of("If-Match", stored.etag()),
            patch(stored.texts(), target, reason, asked),
            Set.of(412));
    if (answer.status() == 412) {
      throw RulesConflict.since(client, stored.revision());
    }
    showResult(
        answer.json().number("revision"),
        rollout == null ? "in the store" : "in the store, on " + rollout + " of the servers first",
        diff,
        true);
    return write.applied(answer, err());
  }

  private static String check(RuleTexts target) {
    return Json.write(Map.of("files", target.texts()));
  }

  /** Returns the requested options of a rollout; empty for none. The server checks the values. */
  private Map<String, Object> rollout() {
    Map<String, Object> asked = new TreeMap<>();
    if (rollout != null) {
      asked.put("nodes", rollout);
      if (rolloutTime != null) {
        asked.put("for", rolloutTime);
      }
      if (maxRefusedRise != null) {
        asked.put("max_refused_rise", maxRefusedRise);
      }
    } else if (rolloutTime != null || maxRefusedRise != null) {
      throw new ParameterException(
          spec().commandLine(),
          ValueErrors.line(
              rolloutTime == null ? "--max-refused-rise" : "--rollout-time",
              "without --rollout",
              "--rollout SHARE too"));
    }
    return asked;
  }

  private static String patch(
      RuleTexts from, RuleTexts to, String reason, Map<String, Object> rollout) {
    Map<String, String> put = new TreeMap<>(to.texts());
    put.entrySet().removeAll(from.texts().entrySet());
    List<String> delete =
        from.texts().keySet().stream().filter(name -> !to.texts().containsKey(name)).toList();
    Map<String, Object> body = new TreeMap<>();
    body.put("put", put);
    body.put("delete", delete);
    body.put("reason", reason);
    if (!rollout.isEmpty()) {
      body.put("rollout", rollout);
    }
    return Json.write(body);
  }

  private void showResult(long revision, String what, List<String> diff, boolean changed) {
    if (json()) {
      out().println(Json.write(Map.of("revision", revision, "changed", changed, "diff", diff)));
      return;
    }
    show(diff);
    out().println("revision " + revision + ": " + what);
  }
}
