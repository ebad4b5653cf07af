package dev.weir.admin.internal.stats;

import dev.weir.Ticker;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Clock;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.rules.Barrier;
import dev.weir.admin.internal.rules.RolloutJson;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.Node;
import dev.weir.config.Rollouts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of the servers that follow the store. */
public final class NodesResource implements Resource {
  private final ConfigStore store;
  private final Ticker wall;

  public NodesResource(ConfigStore store, Ticker wall) {
    this.store = store;
    this.wall = wall;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/nodes", Role.VIEWER, "Lists the servers and what they have.", call -> list())
            .answers(200));
  }

  private AdminResponse list() {
    Head head = store.head();
    Instant now = Clock.instant(wall);
    List<Map<String, Object>> nodes = new ArrayList<>();
    for (Node node : store.nodes()) {
      Map<String, Object> members = Barrier.members(node);
      long silent = Math.max(0, Duration.between(node.at(), now).toSeconds());
      members.put("silent_seconds", silent);
      members.put("alive", silent < Barrier.SILENT.toSeconds());
      nodes.add(members);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("revision", head.revision());
    members.put("position", head.position());
    members.put("nodes", nodes);
    Rollouts.last(store).ifPresent(rollout -> members.put("rollout", RolloutJson.members(rollout)));
    return Reply.json(200, members);
  }
}
