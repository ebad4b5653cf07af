package dev.weir.admin.internal.stats;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Observations;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Documents;
import dev.weir.admin.internal.http.PercentText;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.KeyText;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.insight.HotKeys;
import dev.weir.insight.KeyName;
import dev.weir.insight.Refusal;
import dev.weir.internal.Choice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The resource of the busiest and the most refused keys, and of the values of one of them. */
public final class TopResource implements Resource {
  private static final int MAX = 100;
  private static final int DEFAULT = 20;

  private final ConfigStore store;
  private final Observations observed;
  private final KeyText text;
  private final Fleet fleet;

  public TopResource(ConfigStore store, Observations observed, KeyText text, Fleet fleet) {
    this.store = store;
    this.observed = observed;
    this.text = text;
    this.fleet = fleet;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/top", Role.VIEWER, "Lists the most refused or busiest keys.", this::top)
            .query("by", "rule", "limit", Fleet.SCOPE)
            .answers(200),
        Route.write(
                "POST", "/reveal", Role.OPERATOR, "Shows the values of a masked key.", this::reveal)
            .answers(200, 404, 422, 507));
  }

  private static HotKeys.KeyOrder by(String name) {
    HotKeys.KeyOrder by = Choice.find(HotKeys.KeyOrder.class, name);
    if (by == null) {
      throw new RequestException(400, ShownText.wrong("by", name, "refused or asked"));
    }
    return by;
  }

  private AdminResponse top(Call call) {
    Query query = call.query();
    HotKeys.KeyOrder by = query.has("by") ? by(query.text("by")) : HotKeys.KeyOrder.REFUSED;
    int limit = (int) query.number("limit", DEFAULT, 1, MAX);
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("node", observed.node());
    answer.put("by", Choice.name(by));
    HotKeys keys = observed.insight().hotKeys();
    answer.put("enabled", keys != null);
    answer.put("sampled_one_in", by == HotKeys.KeyOrder.ASKED ? HotKeys.ASKED_ONE_IN : 1);
    answer.put("counters", HotKeys.COUNTERS);
    answer.put("show", text.show().text());
    List<Map<String, Object>> shown = new ArrayList<>();
    if (keys != null) {
      HotKeys.Snapshot snapshot = keys.top(by);
      long now = observed.insight().history().now();
      long seconds = Math.max(1, (snapshot.toNanos() - snapshot.fromNanos()) / 1_000_000_000L);
      answer.put("from", now - seconds);
      answer.put("to", now);
      answer.put("seconds", seconds);
      snapshot.keys().stream()
          .filter(each -> !query.has("rule") || each.name().rule().equals(query.text("rule")))
          .limit(limit)
          .forEach(each -> shown.add(members(each)));
    }
    answer.put("keys", shown);
    String same = "by=" + answer.get("by") + "&limit=" + MAX;
    same += query.has("rule") ? "&rule=" + PercentText.encode(query.text("rule")) : "";
    return fleet.answer(call, answer, same, documents -> merge(documents, limit));
  }

  private Map<String, Object> members(HotKeys.HotKey of) {
    Map<String, Object> members = new LinkedHashMap<>();
    text.put(members, of.name());
    members.put("count", of.count());
    members.put("at_most_too_high_by", of.tooHigh());
    return members;
  }

  private static Map<String, Object> merge(
      List<Map<String, @Nullable Object>> documents, int limit) {
    Map<String, Object> all = Documents.copy(documents.get(0));
    Map<String, Map<String, Object>> keys = new LinkedHashMap<>();
    for (Map<String, @Nullable Object> document : documents) {
      for (Map<String, @Nullable Object> key : Documents.objects(document.get("keys"))) {
        keys.merge(Documents.text(key.get("ref")), Documents.copy(key), TopResource::sum);
      }
    }
    List<Map<String, Object>> sorted = new ArrayList<>(keys.values());
    sorted.sort(Comparator.comparingLong(key -> -Documents.count(key.get("count"))));
    all.put("keys", sorted.subList(0, Math.min(limit, sorted.size())));
    return all;
  }

  private static Map<String, Object> sum(Map<String, Object> sum, Map<String, Object> more) {
    for (String name : List.of("count", "at_most_too_high_by")) {
      sum.put(name, Documents.count(sum.get(name)) + Documents.count(more.get(name)));
    }
    return sum;
  }

  private AdminResponse reveal(Call call) {
    Json.Members body = call.body("ref", "reason");
    String ref = Call.reading(() -> body.text("ref"));
    Cause cause = call.cause(body);
    KeyName key = ref.matches("[0-9a-f]{16}") ? find(ref) : null;
    if (key == null) {
      throw new RequestException(
          404,
          ShownText.wrong("ref", ref, "that of a key among the last refusals or busiest keys"));
    }
    Map<String, Object> noted = new LinkedHashMap<>();
    noted.put("ref", ref);
    noted.put("rule", key.rule());
    noted.put("text", text.text(key));
    store.log("reveal", Json.write(noted), cause);
    Map<String, Object> members = new LinkedHashMap<>();
    text.putPlain(members, key);
    return Reply.json(200, members);
  }

  private @Nullable KeyName find(String ref) {
    HotKeys keys = observed.insight().hotKeys();
    if (keys != null) {
      for (HotKeys.KeyOrder by : HotKeys.KeyOrder.values()) {
        for (HotKeys.HotKey each : keys.top(by).keys()) {
          if (text.ref(each.name()).equals(ref)) {
            return each.name();
          }
        }
      }
    }
    for (Refusal each : observed.insight().refusals().after(0)) {
      if (text.ref(each.key()).equals(ref)) {
        return each.key();
      }
    }
    return null;
  }
}
