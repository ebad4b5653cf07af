package dev.weir.admin.internal.access;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.PercentText;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.Change;
import dev.weir.config.ChangeDetails;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Subject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The resource of the log of changes. */
public final class AuditResource implements Resource {
  private static final long MOST = Long.MAX_VALUE - 1;

  /** The most changes that one page reads, whether or not they match the filters. */
  public static final int MAX_READ = 10 * ConfigStore.MAX_BATCH;

  /** The names of a query that {@link #page} reads. */
  public static final List<String> FILTERS =
      List.of("actor", "kind", "target", "after", "before", "limit");

  private final ConfigStore store;

  public AuditResource(ConfigStore store) {
    this.store = store;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/audit", Role.VIEWER, "Lists changes, newest first.", this::list)
            .query(FILTERS.toArray(new String[0]))
            .answers(200),
        Route.get(
                "/audit/verify",
                Role.OPERATOR,
                "Proves that the log is as it was written, and what is in force as it says.",
                call -> verify())
            .answers(200));
  }

  private AdminResponse list(Call call) {
    return Reply.json(200, page(call.query()));
  }

  /** Returns a page of changes, newest first. */
  public Map<String, Object> page(Query query) {
    int limit = (int) query.number("limit", 100, 1, ConfigStore.MAX_BATCH);
    long after = query.number("after", 0, 0, MOST);
    long before = Math.min(query.number("before", MOST, 1, MOST), store.head().position() + 1);
    List<Map<String, Object>> found = new ArrayList<>();
    int read = 0;
    while (before - 1 > after && found.size() < limit && read < MAX_READ) {
      // Without a filter, no more changes are read than are wanted.
      int size = filtered(query) ? ConfigStore.MAX_BATCH : limit;
      long from = Math.max(after, before - 1 - size);
      List<Change> page = store.changes(from, (int) (before - 1 - from));
      if (page.isEmpty() || page.get(page.size() - 1).number() != before - 1) {
        throw new ConfigException(
            ConfigException.Kind.DAMAGED,
            "change " + (before - 1) + ": missing (expected: a log without gaps)");
      }
      for (int i = page.size() - 1; i >= 0 && found.size() < limit; i--) {
        Change change = page.get(i);
        read++;
        before = change.number();
        Map<String, Object> members = members(change);
        if (fits(query, members)) {
          found.add(members);
        }
      }
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("changes", found);
    if (before - 1 > after) {
      members.put("next", before);
    }
    return members;
  }

  private static boolean filtered(Query query) {
    return query.has("actor") || query.has("kind") || query.has("target");
  }

  private static boolean fits(Query query, Map<String, Object> change) {
    String author = String.valueOf(change.get("author"));
    String actor = query.text("actor");
    return (actor.isEmpty()
            || author.equals(actor)
            || author.startsWith(actor + " (")
            || author.endsWith(" (" + actor + ")"))
        && (!query.has("kind") || query.text("kind").equals(change.get("kind")))
        && (!query.has("target") || query.text("target").equals(change.get("target")));
  }

  private static Map<String, Object> members(Change change) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("number", change.number());
    try {
      ChangeDetails details = change.details();
      members.put("at", details.at().toString());
      members.put("author", details.cause().author());
      members.put("role", details.cause().role());
      members.put("via", details.cause().via());
      members.put("source", details.cause().source());
      members.put("request", details.cause().request());
      members.put("reason", details.cause().reason());
      members.put("kind", details.kind());
      members.put("target", target(details));
      put(members, "before", details.before());
      put(members, "after", details.after());
    } catch (ConfigException e) {
      members.put("unreadable", String.valueOf(e.getMessage()));
    }
    members.put("hash", change.hash());
    return members;
  }

  /** Returns the target of a change: a name, a revision, or a subject in the form of an address. */
  private static String target(ChangeDetails details) {
    if (details.subject().isPresent()) {
      Subject subject = details.subject().get();
      return PercentText.encode(subject.domain())
          + "/"
          + PercentText.encode(subject.key())
          + "/"
          + PercentText.encode(subject.value());
    }
    return details.revision() > 0 ? "r" + details.revision() : details.name().orElse("");
  }

  private static void put(Map<String, Object> members, String name, String json) {
    if (!json.isEmpty()) {
      members.put(name, Call.json(json).without(Set.of()));
    }
  }

  private AdminResponse verify() {
    ChangeLog.Verification verification = ChangeLog.verify(store);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("ok", verification.ok());
    members.put("up_to", verification.position());
    members.put("hash", verification.hash());
    members.put("problem", verification.problem());
    return Reply.json(200, members);
  }
}
