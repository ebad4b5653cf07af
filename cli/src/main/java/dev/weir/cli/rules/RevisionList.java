package dev.weir.cli.rules;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The revisions of a server's store, newest first. */
final class RevisionList {
  private static final int PAGE = 100;

  private RevisionList() {}

  /** Returns at most so many revisions. */
  static List<JsonObject> newest(AdminClient client, int limit) throws InterruptedException {
    List<JsonObject> revisions = new ArrayList<>();
    String before = "";
    do {
      JsonObject page = page(client, before, Math.min(PAGE, limit - revisions.size()));
      revisions.addAll(page.objects("revisions"));
      before = page.text("next");
    } while (!before.isEmpty() && revisions.size() < limit);
    return revisions;
  }

  /**
   * Returns the hashes among the wanted ones that any of the newest revisions has for the text of a
   * file.
   *
   * @param limit the most revisions that are searched
   */
  static Set<String> hashes(AdminClient client, Set<String> wanted, int limit)
      throws InterruptedException {
    Set<String> found = new HashSet<>();
    for (JsonObject revision : newest(client, limit)) {
      if (found.size() == wanted.size()) {
        break;
      }
      for (String hash :
          StoredRules.tree(client.get("/rules/revisions/" + revision.text("revision")).json())
              .files()
              .values()) {
        if (wanted.contains(hash)) {
          found.add(hash);
        }
      }
    }
    return found;
  }

  private static JsonObject page(AdminClient client, String before, int limit)
      throws InterruptedException {
    return client
        .get("/rules/revisions" + UrlText.query("before", before, "limit", Integer.toString(limit)))
        .json();
  }
}
