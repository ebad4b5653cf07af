package dev.weir.cli.rules;

import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.HeadedTable;
import dev.weir.cli.command.JsonObject;
import dev.weir.rules.ValueErrors;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "log",
    mixinStandardHelpOptions = true,
    description = {"Shows the revisions of the rules in a server's store, newest first.", ""})
final class RulesLogCommand extends AdminCommand {
  private static final int MAX_SHOWN = 100_000;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many to show. With --json, one line each. Default: ${DEFAULT-VALUE}")
  private int limit = 20;

  @Override
  public int run() throws InterruptedException {
    if (limit < 1 || limit > MAX_SHOWN) {
      throw wrong(ValueErrors.line("--limit", limit, "1.." + MAX_SHOWN));
    }
    List<JsonObject> revisions = RevisionList.newest(server().client(), limit);
    if (json()) {
      revisions.forEach(out()::println);
      return 0;
    }
    HeadedTable table = new HeadedTable("REVISION", "TIME", "AUTHOR", "REASON");
    for (JsonObject each : revisions) {
      table.add(each.text("revision"), each.text("at"), each.text("author"), each.text("reason"));
    }
    out().println(table.isEmpty() ? "no revisions yet" : table);
    return 0;
  }
}
