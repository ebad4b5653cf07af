package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import java.util.List;

/**
 * The failure of a command whose rules have changed since it read them: it names the author and the
 * remedy.
 */
final class RulesConflict {
  private RulesConflict() {}

  static CommandFailure since(AdminClient client, long revision) throws InterruptedException {
    List<JsonObject> newest =
        client.get("/rules/revisions" + UrlText.query("limit", "1")).json().objects("revisions");
    String who = "";
    if (!newest.isEmpty()) {
      JsonObject last = newest.get(0);
      who =
          "revision %s is by %s of %s: %s; "
              .formatted(
                  last.text("revision"), last.text("author"), last.text("at"), last.text("reason"));
    }
    return new CommandFailure(
        Main.FOUND,
        "conflict: "
            + who
            + "this command began with revision "
            + revision
            + ", and nothing was changed (expected: 'weir rules diff DIR' to see the difference,"
            + " 'weir rules pull DIR' to take it over, and then the command again)");
  }
}
