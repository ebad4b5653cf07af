package dev.weir.admin.internal.stats;

import dev.weir.Ticker;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Clock;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.admin.internal.rules.Barrier;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.Node;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** The answers for one server, or for all live ones. Safe for use by many threads. */
public final class Fleet {
  /*
   * How does one server answer for all? It requests the same document from each other server that
   * has reported within ten seconds, from all at once, and merges the documents with its own. The
   * addresses are in the list of servers, which only processes with access to the store can write.
   * A request to another server carries no token, but a signature for this one request. A server
   * that does not answer within a second is named in the answer.
   */
  static final String SCOPE = "scope";

  /** The most servers that are requested, more than one page can show. */
  private static final int MAX_PEERS = 100;

  /** A function that merges the documents of several servers; the first is this server's own. */
  interface Merge {
    Map<String, Object> merge(List<Map<String, @Nullable Object>> documents);
  }

  private final ConfigStore store;
  private final Ticker wall;
  private final String node;
  private final FleetSignature signature;
  private final Peers peers;

  public Fleet(ConfigStore store, Ticker wall, String node, FleetSignature signature, Peers peers) {
    this.store = store;
    this.wall = wall;
    this.node = node;
    this.signature = signature;
    this.peers = peers;
  }

  /**
   * Returns the answer: this server's document, or with {@code scope=all} that of all servers.
   *
   * @param own the document of this server
   * @param query requests the same document from another server
   */
  AdminResponse answer(Call call, Map<String, Object> own, String query, Merge merge) {
    String scope = call.query().has(SCOPE) ? call.query().text(SCOPE) : "node";
    if (!scope.equals("node") && !scope.equals("all")) {
      throw new RequestException(400, ShownText.wrong(SCOPE, scope, "node or all"));
    }
    if (scope.equals("node")) {
      own.put("nodes", nodes(1, List.of()));
      return Reply.json(200, own);
    }
    String path = call.request().path();
    Map<Node, CompletableFuture<String>> asked = new LinkedHashMap<>();
    for (Node each : others()) {
      asked.put(each, fetch(each, path, query));
    }
    List<Map<String, @Nullable Object>> documents = new ArrayList<>();
    documents.add(read(Json.writeAsIs(own)));
    List<Map<String, Object>> missing = new ArrayList<>();
    asked.forEach(
        (each, answer) -> {
          try {
            documents.add(from(each, read(answer.join())));
          } catch (CompletionException | IllegalStateException e) {
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("id", each.id());
            members.put("why", HttpPeers.why(e));
            missing.add(members);
          }
        });
    Map<String, Object> all = merge.merge(documents);
    all.put("nodes", nodes(1 + asked.size(), missing));
    return Reply.json(200, all);
  }

  private CompletableFuture<String> fetch(Node of, String path, String query) {
    if (of.admin().isEmpty()) {
      return CompletableFuture.failedFuture(
          new IOException("its address is not known (expected: --admin-host, or --admin-hosts)"));
    }
    String address = path + (query.isEmpty() ? "" : "?" + query);
    return peers.get(of.admin(), address, signature.sign(path, query));
  }

  private List<Node> others() {
    Instant alive = Clock.instant(wall).minus(Barrier.SILENT).minus(Duration.ofSeconds(1));
    return store.nodes().stream()
        .filter(each -> !each.id().equals(node) && each.at().isAfter(alive))
        .limit(MAX_PEERS)
        .toList();
  }

  /**
   * Returns a document if it names the expected server: an address that leads to this very server
   * must not count twice.
   */
  private static Map<String, @Nullable Object> from(
      Node asked, Map<String, @Nullable Object> document) {
    if (!asked.id().equals(document.get("node"))) {
      throw new IllegalStateException(
          asked.admin() + " is another server (expected: --admin-host that the others can reach)");
    }
    return document;
  }

  private static Map<String, @Nullable Object> read(String document) {
    try {
      return Json.readWithNulls(document).without(Set.of());
    } catch (IOException e) {
      throw new IllegalStateException("answered something else: " + e.getMessage(), e);
    }
  }

  private static Map<String, Object> nodes(int asked, List<Map<String, Object>> missing) {
    Map<String, Object> nodes = new LinkedHashMap<>();
    nodes.put("asked", asked);
    nodes.put("answered", asked - missing.size());
    nodes.put("missing", missing);
    return nodes;
  }
}
