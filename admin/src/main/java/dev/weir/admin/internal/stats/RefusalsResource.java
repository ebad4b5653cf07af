package dev.weir.admin.internal.stats;

import dev.weir.Decision;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Observations;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Documents;
import dev.weir.admin.internal.http.PercentText;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.KeyText;
import dev.weir.insight.Refusal;
import dev.weir.insight.Refusals;
import dev.weir.internal.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The resource of the last refusals and their reasons. */
public final class RefusalsResource implements Resource {
  private static final int MAX = 1_000;
  private static final int DEFAULT = 100;

  private final Observations observed;
  private final KeyText text;
  private final Fleet fleet;

  public RefusalsResource(Observations observed, KeyText text, Fleet fleet) {
    this.observed = observed;
    this.text = text;
    this.fleet = fleet;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/refusals", Role.VIEWER, "Lists the last refusals and why.", this::list)
            .query("rule", "subject", "ref", "reason", "before", "limit", Fleet.SCOPE)
            .answers(200));
  }

  private AdminResponse list(Call call) {
    Query query = call.query();
    int limit = (int) query.number("limit", DEFAULT, 1, MAX);
    long before = query.number("before", Long.MAX_VALUE, 1, Long.MAX_VALUE);
    Refusals refusals = observed.insight().refusals();
    List<Refusal> kept = refusals.after(0);
    List<Map<String, Object>> found = new ArrayList<>();
    long next = 0;
    for (Refusal each : kept) {
      if (each.number() < before && fits(each, query)) {
        if (found.size() == limit) {
          next = each.number() + 1;
          break;
        }
        found.add(members(each));
      }
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("node", observed.node());
    answer.put("now", observed.insight().history().now());
    answer.put("show", text.show().text());
    answer.put("came", refusals.came());
    answer.put("kept", kept.size());
    if (!kept.isEmpty()) {
      answer.put("since_millis", kept.get(kept.size() - 1).timeMillis());
    }
    answer.put("refusals", found);
    if (next > 0) {
      answer.put("next", next);
    }
    return fleet.answer(call, answer, same(query, limit), documents -> merge(documents, limit));
  }

  private boolean fits(Refusal refusal, Query query) {
    String subject = query.text("subject");
    return (!query.has("rule") || refusal.key().rule().equals(query.text("rule")))
        && (!query.has("reason") || reason(refusal).equals(query.text("reason")))
        && (!query.has("subject")
            || refusal.key().entries().stream().anyMatch(each -> each.value().equals(subject)))
        && (!query.has("ref") || text.ref(refusal.key()).equals(query.text("ref")));
  }

  private static String same(Query query, int limit) {
    StringBuilder same = new StringBuilder("limit=" + limit);
    for (String name : List.of("rule", "subject", "ref", "reason")) {
      if (query.has(name)) {
        same.append('&').append(name).append('=').append(PercentText.encode(query.text(name)));
      }
    }
    return same.toString();
  }

  private static String reason(Refusal refusal) {
    return Choice.name(refusal.reason());
  }

  /** Returns a refusal in the form in which it is shown. */
  Map<String, Object> members(Refusal refusal) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("number", refusal.number());
    members.put("time_millis", refusal.timeMillis());
    members.put("node", observed.node());
    text.put(members, refusal.key());
    members.put("revision", refusal.revision());
    members.put("origin", Choice.name(refusal.origin().kind()));
    members.put("plan", refusal.origin().plan());
    members.put("limit", refusal.limit());
    members.put("window_seconds", Math.max(1, refusal.windowNanos() / 1_000_000_000L));
    members.put("reason", reason(refusal));
    if (!refusal.cause().isEmpty()) {
      members.put("cause", refusal.cause());
    }
    members.put("retry_after_millis", retryAfterMillis(refusal));
    members.put("stands_for", refusal.standsFor());
    return members;
  }

  private static @Nullable Long retryAfterMillis(Refusal refusal) {
    long nanos = refusal.retryAfterNanos();
    return nanos == Decision.NEVER ? null : nanos / 1_000_000L + (nanos % 1_000_000L > 0 ? 1 : 0);
  }

  private static Map<String, Object> merge(
      List<Map<String, @Nullable Object>> documents, int limit) {
    Map<String, Object> all = Documents.copy(documents.get(0));
    List<Map<String, @Nullable Object>> refusals = new ArrayList<>();
    for (String name : List.of("came", "kept")) {
      long sum = 0;
      for (Map<String, @Nullable Object> document : documents) {
        sum += Documents.count(document.get(name));
      }
      all.put(name, sum);
    }
    documents.forEach(each -> refusals.addAll(Documents.objects(each.get("refusals"))));
    refusals.sort(Comparator.comparingLong(each -> -Documents.count(each.get("time_millis"))));
    all.put("refusals", refusals.subList(0, Math.min(limit, refusals.size())));
    all.remove("next"); // Refusals are numbered by each server for itself.
    return all;
  }
}
