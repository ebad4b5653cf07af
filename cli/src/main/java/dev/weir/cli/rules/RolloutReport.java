package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.command.JsonObject;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;

/** The display of a server's answer about the other servers, after a command waited for them. */
final class RolloutReport {
  private static final int NOT_YET = 202;

  private RolloutReport() {}

  /**
   * Shows the servers that do not have a change yet.
   *
   * @return the exit status
   */
  static int show(AdminClient.Answer answer, PrintWriter err) {
    if (answer.status() != NOT_YET) {
      err.println("every live server has it");
      return 0;
    }
    err.println("weir: the change is made, but these servers do not have it yet:");
    for (JsonObject node : answer.json().objects("waiting")) {
      StringBuilder line = new StringBuilder("  " + node.text("id"));
      if (!node.text("address").isEmpty()) {
        line.append(", ").append(node.text("address"));
      }
      line.append(", has revision ").append(node.text("revision"));
      line.append(" and change ").append(node.text("position"));
      node.texts("problems").forEach(problem -> line.append("; ").append(problem));
      err.println(ShownText.plain(line.toString()));
    }
    return Main.FOUND;
  }
}
