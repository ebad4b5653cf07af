package dev.weir.cli.admin;

import dev.weir.admin.StoreAdmin;
import dev.weir.cli.Main;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.Text;
import dev.weir.cli.command.UrlText;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = {
      "Shows who changed what, when and why, newest first, or verifies that nobody rewrote"
          + " it.",
      "",
      "Every change has a hash over itself and the one before. --verify reads all of them: a change"
          + " that was edited, left out or put in is found. It also compares the rules, records and"
          + " tokens that are in force with the last change of each. That the whole log was rewritten"
          + " only shows if you keep the last hash elsewhere and compare.",
      "",
      "Exit status: 0, or 1 if the log is not as it was written, or something else is in force.",
      ""
    })
public final class AuditCommand extends AdminCommand {
  private static final int PAGE = 1_000;
  private static final int MAX_SHOWN = 1_000_000;

  @Option(
      names = "--actor",
      paramLabel = "TEXT",
      description = "Only changes by this author: a token's name or id.")
  private String actor = "";

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      description = "Only changes of a kind, for example rules, record, token.")
  private String kind = "";

  @Option(
      names = "--target",
      paramLabel = "TEXT",
      description =
          "Only changes of this: a revision as r42, a token's id, a customer as"
              + " DOMAIN/KEY/VALUE, each with percent signs as in an address.")
  private String target = "";

  @Option(
      names = "--after",
      paramLabel = "N",
      description = "Only changes after the one with this number.")
  private long after;

  @Option(
      names = "--before",
      paramLabel = "N",
      description = "Only changes before the one with this number.")
  private long before;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "How many to show. With --json, one line each. Default: ${DEFAULT-VALUE}")
  private int limit = 100;

  @Option(names = "--verify", description = "Verify the log instead of showing it.")
  private boolean verify;

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException {
    if (limit < 1 || limit > MAX_SHOWN) {
      throw wrong(ValueErrors.line("--limit", limit, "1.." + MAX_SHOWN));
    }
    if (after < 0 || before < 0) {
      throw wrong("--after, --before: negative (expected: numbers of changes)");
    }
    if (store.given(server())) {
      try (ConfigStore open = store.open()) {
        return verify ? verify(open) : show(query -> new JsonObject(StoreAdmin.audit(open, query)));
      } catch (IllegalArgumentException e) {
        throw wrong(String.valueOf(e.getMessage()));
      }
    }
    AdminClient client = server().client();
    return verify
        ? verify(client)
        : show(query -> client.get("/audit" + (query.isEmpty() ? "" : "?" + query)).json());
  }

  /** A source of pages of the log: one for each query. */
  private interface Pages {
    JsonObject page(String query) throws InterruptedException;
  }

  private int verify(ConfigStore open) {
    ChangeLog.Verification result = ChangeLog.verify(open);
    return verified(result.ok(), result.position(), result.hash(), result.problem());
  }

  private int verify(AdminClient client) throws InterruptedException {
    JsonObject result = client.get("/audit/verify").json();
    return verified(
        result.isTrue("ok"), result.number("up_to"), result.text("hash"), result.text("problem"));
  }

  private int verified(boolean ok, long position, String hash, String problem) {
    if (json()) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("ok", ok);
      result.put("up_to", position);
      result.put("hash", hash);
      if (!ok) {
        result.put("problem", problem);
      }
      out().println(Json.writeAsIs(result));
    } else if (ok) {
      out().println("ok: " + Text.count(position, "change") + ", the last with hash " + hash);
    } else {
      out()
          .println(
              ShownText.plain(problem) + "; sound up to change " + position + " with hash " + hash);
    }
    return ok ? 0 : Main.FOUND;
  }

  private int show(Pages pages) throws InterruptedException {
    String next = before == 0 ? "" : Long.toString(before);
    int shown = 0;
    do {
      String query =
          UrlText.query(
              "actor", actor,
              "kind", kind,
              "target", target,
              "after", after == 0 ? "" : Long.toString(after),
              "before", next,
              "limit", Integer.toString(Math.min(PAGE, limit - shown)));
      JsonObject page = pages.page(query.substring(1));
      List<JsonObject> changes = page.objects("changes");
      changes.forEach(change -> out().println(json() ? change : line(change)));
      shown += changes.size();
      next = page.text("next");
    } while (!next.isEmpty() && shown < limit);
    if (!next.isEmpty()) {
      err().println("weir: more follow (expected: --before " + next + " to go on, or --limit N)");
    }
    return 0;
  }

  private static String line(JsonObject change) {
    String what =
        change.has("unreadable")
            ? change.text("unreadable")
            : "%s  %s  %s %s: %s"
                .formatted(
                    change.text("at"),
                    change.text("author"),
                    change.text("kind"),
                    change.text("target"),
                    change.text("reason"));
    return ShownText.plain(change.text("number") + "  " + what);
  }
}
