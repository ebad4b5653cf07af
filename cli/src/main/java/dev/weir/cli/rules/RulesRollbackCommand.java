package dev.weir.cli.rules;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.config.Json;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "rollback",
    mixinStandardHelpOptions = true,
    description = {
      "Makes the rules of an older revision the newest revision, and shows what that changes.",
      "",
      "Exit status: 0 if done or if there is nothing to do, 1 if somebody else was faster, or a"
          + " server does not have them (--wait).",
      ""
    })
final class RulesRollbackCommand extends AdminCommand {
  @Parameters(paramLabel = "REVISION", description = "The revision whose rules to bring back.")
  private long revision;

  @Option(names = "--dry-run", description = "Only show what would change.")
  private boolean dryRun;

  @Mixin private final WriteFlags write = new WriteFlags();

  @Override
  public int run() throws InterruptedException {
    String reason = dryRun ? "" : write.reason();
    AdminClient client = server().client();
    StoredRules stored = StoredRules.newest(client);
    RuleTexts old = StoredRules.of(client, revision, stored.texts());
    List<String> diff = stored.texts().diff(old);
    if (diff.isEmpty() || dryRun) {
      showResult(
          stored.revision(),
          diff.isEmpty() ? "has these files already" : "would change",
          diff,
          false);
      return 0;
    }
    AdminClient.Answer answer =
        client.call(
            "POST",
            "/rules/rollback" + write.query(client),
            Map.of("If-Match", stored.etag()),
            Json.write(Map.of("to", revision, "reason", reason)),
            Set.of(412));
    if (answer.status() == 412) {
      throw RulesConflict.since(client, stored.revision());
    }
    showResult(
        answer.json().number("revision"), "has the rules of revision " + revision, diff, true);
    return write.applied(answer, err());
  }

  private void showResult(long number, String what, List<String> diff, boolean changed) {
    if (json()) {
      out().println(Json.write(Map.of("revision", number, "changed", changed, "diff", diff)));
      return;
    }
    show(diff);
    out().println("revision " + number + ": " + what);
  }
}
