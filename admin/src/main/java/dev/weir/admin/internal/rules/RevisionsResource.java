package dev.weir.admin.internal.rules;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.ConfigStore;
import dev.weir.config.Revision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of earlier rules. */
public final class RevisionsResource implements Resource {
  private static final int MAX_PAGE = 100;
  private static final long MOST = Long.MAX_VALUE;

  private final ConfigStore store;
  private final RuleVersions versions;

  public RevisionsResource(ConfigStore store, RuleVersions versions) {
    this.store = store;
    this.versions = versions;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/rules/revisions", Role.VIEWER, "Lists revisions, newest first.", this::list)
            .query("before", "limit")
            .answers(200),
        Route.get(
                "/rules/revisions/{revision}",
                Role.VIEWER,
                "Returns a revision and its files.",
                this::show)
            .answers(200, 404),
        Route.get("/rules/diff", Role.VIEWER, "Compares two revisions.", this::diff)
            .query("from", "to")
            .answers(200, 404));
  }

  private AdminResponse list(Call call) {
    long limit = call.query().number("limit", 20, 1, MAX_PAGE);
    long before = call.query().number("before", MOST, 1, MOST);
    List<Map<String, Object>> revisions = new ArrayList<>();
    long number = versions.areFiles() ? 0 : Math.min(before - 1, store.head().revision());
    while (number > 0 && revisions.size() < limit) {
      revisions.add(members(versions.revision(number)));
      number--;
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revisions", revisions);
    if (number > 0) {
      members.put("next", number + 1);
    }
    return Reply.json(200, members);
  }

  private AdminResponse show(Call call) {
    String text = call.parameter("revision");
    if (!text.matches("[0-9]{1,18}")) {
      throw new RequestException(404, ShownText.wrong("revision", text, "a number"));
    }
    Revision revision = versions.revision(Long.parseLong(text));
    Map<String, Object> members = members(revision);
    List<Map<String, Object>> files = new ArrayList<>();
    revision
        .tree()
        .files()
        .forEach((name, hash) -> files.add(Map.of("name", name, "sha256", hash)));
    members.put("files", files);
    return Reply.json(200, members);
  }

  private static Map<String, Object> members(Revision revision) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revision", revision.number());
    members.put("author", revision.author());
    members.put("reason", revision.reason());
    members.put("at", revision.at().toString());
    members.put("change", revision.position());
    members.put("tree", revision.tree().hash());
    return members;
  }

  private AdminResponse diff(Call call) {
    if (!call.query().has("from") || !call.query().has("to")) {
      throw new RequestException(400, "from, to: missing (expected: two revisions)");
    }
    RuleVersion from = versions.at(call.query().number("from", 0, 1, MOST));
    RuleVersion to = versions.at(call.query().number("to", 0, 1, MOST));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("from", from.revision());
    members.put("to", to.revision());
    members.put("diff", from.diff(to));
    members.put("text_diff", TextDiff.of(from.texts(), to.texts()));
    return Reply.json(200, members);
  }
}
