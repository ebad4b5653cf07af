package dev.weir.admin.internal.rules;

import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.rows.Tree;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The changes of rule files in a body.
 *
 * @param put texts by the name of the file
 * @param delete names of files
 */
record RuleEdit(Map<String, String> put, List<String> delete) {
  static RuleEdit of(Json.Members body) {
    return new RuleEdit(
        body.has("put") ? texts(body, "put") : Map.of(),
        body.has("delete") ? Call.reading(() -> body.list("delete")) : List.of());
  }

  static Map<String, String> texts(Json.Members body, String member) {
    return Call.reading(() -> body.object(member).texts());
  }

  RuleVersion on(RuleVersions versions, RuleVersion base) {
    return versions.changed(base, put, delete);
  }

  /**
   * Checks that the names and sizes of the files can be stored.
   *
   * @throws RequestException with 422
   */
  static void requireNames(RuleVersion version) {
    try {
      Tree unused = Tree.of(version.texts());
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
    version
        .texts()
        .forEach(
            (name, text) -> {
              int bytes = text.getBytes(StandardCharsets.UTF_8).length;
              if (bytes > ConfigStore.MAX_TEXT_BYTES) {
                throw new RequestException(
                    422,
                    ShownText.wrong(
                        name, bytes + " bytes", "at most " + ConfigStore.MAX_TEXT_BYTES));
              }
            });
  }
}
