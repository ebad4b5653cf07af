package dev.weir.admin.internal.stats;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of live statistics: server-sent events, one a second. [HTML, 9.2] */
public final class LiveResource implements Resource {
  private static final long MAX_TIME = 100_000_000_000L;

  private final LiveFeed feed;

  public LiveResource(LiveFeed feed) {
    this.feed = feed;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/live", Role.VIEWER, "Sends every second what was asked in it.", this::live)
            .query("rules", "refusals", "after")
            .answers(200, 503));
  }

  private AdminResponse live(Call call) {
    Query query = call.query();
    boolean rules = !query.has("rules") || query.truth("rules");
    boolean refusals = !query.has("refusals") || query.truth("refusals");
    long after = query.number("after", -1, 0, MAX_TIME);
    String last = call.request().field("last-event-id");
    if (last.matches("[0-9]{1,11}")) {
      after = Math.max(after, Long.parseLong(last));
    }
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put(Reply.TYPE, "text/event-stream");
    fields.put("X-Accel-Buffering", "no"); // A proxy must not hold the events back.
    return AdminResponse.of(fields, feed.open(call.actor(), rules, refusals, after));
  }
}
