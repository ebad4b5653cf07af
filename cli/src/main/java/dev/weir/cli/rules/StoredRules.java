package dev.weir.cli.rules;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import dev.weir.config.rows.Tree;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rules of a server's store at one revision.
 *
 * @param revision 0 if the store has no rules yet, or the server has them from files
 * @param etag the tag under which they can be changed
 */
record StoredRules(long revision, String etag, RuleTexts texts) {

  /** Reads the newest revision. */
  static StoredRules newest(AdminClient client) throws InterruptedException {
    return newest(client, RuleTexts.NONE);
  }

  /**
   * Reads the newest revision.
   *
   * @param known the texts that need not be fetched again
   */
  static StoredRules newest(AdminClient client, RuleTexts known) throws InterruptedException {
    AdminClient.Answer answer = client.get("/rules");
    JsonObject rules = answer.json();
    return new StoredRules(
        rules.number("revision"),
        answer.etag(),
        texts(client, tree(rules), rules.number("revision"), known));
  }

  /** Reads a revision. */
  static RuleTexts of(AdminClient client, long revision, RuleTexts known)
      throws InterruptedException {
    JsonObject rules = client.get("/rules/revisions/" + revision).json();
    return texts(client, tree(rules), revision, known);
  }

  /** Reads the files' hashes. */
  static Tree tree(JsonObject rules) {
    Map<String, String> files = new TreeMap<>();
    for (JsonObject file : rules.objects("files")) {
      files.put(file.text("name"), file.text("sha256"));
    }
    try {
      // Names are checked: a server must not name a file outside of a folder.
      return new Tree(new TreeMap<>(files));
    } catch (IllegalArgumentException e) {
      throw new CommandFailure("the answer cannot be read: " + e.getMessage(), e);
    }
  }

  private static RuleTexts texts(AdminClient client, Tree tree, long revision, RuleTexts known)
      throws InterruptedException {
    Map<String, String> byHash = new TreeMap<>();
    known.texts().forEach((name, text) -> byHash.put(hash(name, text), text));
    SortedMap<String, String> texts = new TreeMap<>();
    for (Map.Entry<String, String> file : tree.files().entrySet()) {
      String text = byHash.get(file.getValue());
      if (text == null) {
        text =
            client
                .get(
                    "/rules/files/"
                        + UrlText.encoded(file.getKey())
                        + UrlText.query("revision", revision == 0 ? "" : Long.toString(revision)))
                .body();
        if (!hash(file.getKey(), text).equals(file.getValue())) {
          throw new CommandFailure(
              file.getKey()
                  + ": another text than that of revision "
                  + revision
                  + " (expected: SHA-256 "
                  + file.getValue()
                  + ")");
        }
        byHash.put(file.getValue(), text);
      }
      texts.put(file.getKey(), text);
    }
    return RuleTexts.of(texts);
  }

  /** Returns the hash of a file's text, as it is in trees. */
  static String hash(String name, String text) {
    return String.valueOf(Tree.of(Map.of(name, text)).files().get(name));
  }
}
