package dev.weir.admin.internal.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.rows.Tree;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of the rules in force, and of checks of proposed changes. */
public final class RulesResource implements Resource {
  /**
   * The lock for checks: one rule set may take a third of the memory, so only one is checked at a
   * time.
   */
  private final Object checking = new Object();

  private final ConfigStore store;
  private final RuleVersions versions;

  public RulesResource(ConfigStore store, RuleVersions versions) {
    this.store = store;
    this.versions = versions;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/rules", Role.VIEWER, "Lists the rule files and who has them.", call -> show())
            .answers(200),
        Route.get("/rules/files/{name}", Role.VIEWER, "Returns a rule file.", this::file)
            .query("revision")
            .answers(200, 404),
        Route.write(
                "POST", "/rules/check", Role.VIEWER, "Checks rules without a change.", this::check)
            .answers(200, 404, 422));
  }

  /** Returns the tag of the rules in force. */
  static String tag(RuleVersion version, boolean files) {
    return files ? "f" + Tree.of(version.texts()).hash() : "r" + version.revision();
  }

  private AdminResponse show() {
    RuleVersion head = versions.head();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revision", head.revision());
    members.put("source", versions.areFiles() ? "files" : "store");
    Map<String, String> hashes = Tree.of(head.texts()).files();
    List<Map<String, Object>> files = new ArrayList<>();
    for (String name : head.texts().keySet()) {
      Map<String, Object> file = new LinkedHashMap<>();
      file.put("name", name);
      file.put("sha256", hashes.getOrDefault(name, ""));
      file.put("rules", count(head, name));
      files.add(file);
    }
    members.put("files", files);
    Map<String, Object> plans = new LinkedHashMap<>();
    for (String domain : head.rules().domains()) {
      plans.put(domain, List.copyOf(head.rules().plans(domain)));
    }
    members.put("plans", plans);
    List<Map<String, Object>> applied = new ArrayList<>();
    store
        .nodes()
        .forEach(
            node -> {
              Map<String, Object> one = new LinkedHashMap<>();
              one.put("node", node.id());
              one.put("revision", node.revision());
              one.put("at", node.at().toString());
              applied.add(one);
            });
    members.put("applied", applied);
    if (!head.loaded().problems().isEmpty()) {
      members.put("problems", head.problems());
    }
    return Reply.etag(Reply.json(200, members), tag(head, versions.areFiles()));
  }

  private static long count(RuleVersion head, String file) {
    return head.rules().rules().stream()
        .map(Rule::position)
        .filter(position -> position.file().equals(file))
        .count();
  }

  private AdminResponse file(Call call) {
    RuleVersion version =
        call.query().has("revision")
            ? versions.at(call.query().number("revision", 0, 1, Long.MAX_VALUE))
            : versions.head();
    String name = call.parameter("name");
    String text = version.texts().get(name);
    if (text == null) {
      throw new RequestException(404, ShownText.wrong("file", name, "a file of the rules"));
    }
    AdminResponse answer = Reply.bytes(200, "application/yaml", text.getBytes(UTF_8));
    return Reply.etag(answer, Tree.of(Map.of(name, text)).files().getOrDefault(name, ""));
  }

  private AdminResponse check(Call call) {
    Json.Members body = call.files("files", "put", "delete", "base");
    synchronized (checking) {
      return check(body);
    }
  }

  private AdminResponse check(Json.Members body) {
    RuleVersion base =
        body.has("base") ? versions.at(Call.reading(() -> body.number("base"))) : versions.head();
    if (body.has("files") == (body.has("put") || body.has("delete"))) {
      throw new RequestException(
          400, "body: files, put and delete (expected: either files, or changes)");
    }
    RuleVersion proposed =
        body.has("files")
            ? RuleVersion.of(0, RuleEdit.texts(body, "files"), versions.defaults())
            : RuleEdit.of(body).on(versions, base);
    RuleEdit.requireNames(proposed);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("valid", proposed.valid() && !proposed.texts().isEmpty());
    members.put("base", base.revision());
    members.put("problems", proposed.problems());
    members.put("diff", base.diff(proposed));
    members.put("text_diff", TextDiff.of(base.texts(), proposed.texts()));
    return Reply.json(200, members);
  }
}
