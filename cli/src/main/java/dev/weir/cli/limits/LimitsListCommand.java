package dev.weir.cli.limits;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.HeadedTable;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = {"Lists the customers of a domain and key who have a record.", ""})
final class LimitsListCommand extends AdminCommand {
  private static final int PAGE = 1_000;
  private static final int MAX_SHOWN = 1_000_000;

  @Parameters(index = "0", paramLabel = "DOMAIN", description = "The domain of the rules.")
  private String domain = "";

  @Parameters(index = "1", paramLabel = "KEY", description = "The key, for example user.")
  private String key = "";

  @Option(names = "--prefix", paramLabel = "P", description = "Only values that begin with this.")
  private String prefix = "";

  @Option(names = "--plan", paramLabel = "P", description = "Only customers with this plan.")
  private String plan = "";

  @Option(names = "--after", paramLabel = "VALUE", description = "Begin after this value.")
  private @Nullable String after;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many to show. With --json, one line each. Default: ${DEFAULT-VALUE}")
  private int limit = 1_000;

  @Override
  public int run() throws InterruptedException {
    if (limit < 1 || limit > MAX_SHOWN) {
      throw wrong(ValueErrors.line("--limit", limit, "1.." + MAX_SHOWN));
    }
    AdminClient client = server().client();
    int shown = 0;
    String next = after == null ? "" : after;
    boolean more;
    do {
      JsonObject page =
          client
              .get(
                  "/limits"
                      + UrlText.query(
                          "domain",
                          domain,
                          "key",
                          key,
                          "prefix",
                          prefix,
                          "plan",
                          plan,
                          "after",
                          next,
                          "limit",
                          Integer.toString(Math.min(PAGE, limit - shown))))
              .json();
      HeadedTable table = new HeadedTable("VALUE", "PLAN", "LIMITS", "NOTE");
      for (JsonObject record : page.objects("records")) {
        shown++;
        if (json()) {
          out().println(record);
        } else {
          table.add(
              record.text("value"),
              record.text("plan"),
              record.objects("limits").stream()
                  .map(RecordText::limit)
                  .collect(Collectors.joining(" ")),
              record.text("note"));
        }
      }
      if (!json() && !table.isEmpty()) {
        out().println(table);
      }
      for (JsonObject unreadable : page.objects("unreadable")) {
        err()
            .println(
                "weir: "
                    + ShownText.plain(
                        unreadable.text("value") + ": " + unreadable.text("problem")));
      }
      more = page.has("next");
      next = page.text("next");
    } while (more && shown < limit);
    if (more) {
      err()
          .println(
              "weir: more follow (expected: --after '"
                  + ShownText.plain(next)
                  + "' to go on, or --limit N)");
    } else if (shown == 0) {
      err().println("weir: no records");
    }
    return 0;
  }
}
