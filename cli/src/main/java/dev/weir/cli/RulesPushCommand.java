package dev.weir.cli;

import dev.weir.config.Json;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
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

  @Mixin private final WriteFlags write = new WriteFlags();

  @Override
  int run() throws InterruptedException {
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
          client.ask("POST", "/rules/check", Map.of(), check(target), Set.of()).json();
      if (!checked.isTrue("valid")) {
        AdminClient.Problems.lines(checked).forEach(err()::println);
        err().println("the server, which may be of another version, refuses these rules");
        return Main.FOUND;
      }
      showResult(stored.revision(), "would change", diff, false);
      return 0;
    }
    AdminClient.Answer answer =
        client.ask(
            "PATCH",
            "/rules" + write.query(client),
            Map.of("If-Match", stored.etag()),
            patch(stored.texts(), target, reason),
            Set.of(412));
    if (answer.status() == 412) {
      throw RulesConflict.since(client, stored.revision());
    }
    showResult(answer.json().number("revision"), "in the store", diff, true);
    return write.applied(answer, err());
  }

  private static String check(RuleTexts target) {
    return Json.write(Map.of("files", target.texts()));
  }

  private static String patch(RuleTexts from, RuleTexts to, String reason) {
    Map<String, String> put = new TreeMap<>(to.texts());
    put.entrySet().removeAll(from.texts().entrySet());
    List<String> delete =
        from.texts().keySet().stream().filter(name -> !to.texts().containsKey(name)).toList();
    return Json.write(Map.of("put", put, "delete", delete, "reason", reason));
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
