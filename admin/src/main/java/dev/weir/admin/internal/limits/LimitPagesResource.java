package dev.weir.admin.internal.limits;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.ConfigStore;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The resource of pages of records. */
public final class LimitPagesResource implements Resource {
  /** The most records that a page reads in a search for a plan. */
  static final int MAX_READ = 10 * ConfigStore.MAX_BATCH;

  private final ConfigStore store;

  public LimitPagesResource(ConfigStore store) {
    this.store = store;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/limits", Role.VIEWER, "Lists records of a domain and key.", this::list)
            .query("domain", "key", "prefix", "plan", "after", "limit")
            .answers(200));
  }

  private AdminResponse list(Call call) {
    Query query = call.query();
    if (!query.has("domain") || !query.has("key")) {
      throw new RequestException(400, "domain, key: missing (expected: both)");
    }
    int limit = (int) query.number("limit", 100, 1, ConfigStore.MAX_BATCH);
    String plan = query.text("plan");
    List<Map<String, Object>> found = new ArrayList<>();
    List<Map<String, Object>> unreadable = new ArrayList<>();
    String after = query.has("after") ? query.text("after") : null;
    int read = 0;
    do {
      Records page = page(query, after, plan.isEmpty() ? limit : ConfigStore.MAX_BATCH);
      read += page.found().size() + page.unreadable().size();
      after = page.next().orElse(null);
      page.unreadable()
          .forEach(
              (subject, why) -> unreadable.add(Map.of("value", subject.value(), "problem", why)));
      for (SubjectRecord record : page.found().values()) {
        if (found.size() == limit) {
          break;
        }
        if (plan.isEmpty() || record.plan().equals(plan)) {
          found.add(RecordJson.all(record));
          if (found.size() == limit && (after != null || more(page, record))) {
            after = record.subject().value();
          }
        }
      }
    } while (after != null && found.size() < limit && read < MAX_READ);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("records", found);
    if (!unreadable.isEmpty()) {
      members.put("unreadable", unreadable);
    }
    if (after != null) {
      members.put("next", after);
    }
    return Reply.json(200, members);
  }

  private Records page(Query query, @Nullable String after, int limit) {
    try {
      return store.list(
          query.text("domain"), query.text("key"), query.text("prefix"), after, limit);
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }

  /** Returns whether further records follow a record on its page. */
  private static boolean more(Records page, SubjectRecord record) {
    Optional<Subject> last = page.found().keySet().stream().reduce((first, second) -> second);
    return last.isPresent() && !last.get().equals(record.subject());
  }
}
