package dev.weir.config.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stand-in for etcd's gateway: the calls that Weir uses, with the limits and error messages of
 * etcd 3.4. {@code .ci/smoke-etcd} runs the same tests with a real etcd.
 */
final class FakeEtcd implements AutoCloseable {
  /** A mapper that writes numbers as texts, which etcd does with large ones. */
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.WRITE_NUMBERS_AS_STRINGS).build();

  private static final int MAX_OPERATIONS = 128;
  private static final int MAX_REQUEST_BYTES = 1_572_864;

  static {
    // Without this property, each answer is delayed by 40 ms.
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  /** The faults that the next requests meet. */
  enum Fault {
    NONE,
    /** The request takes effect, and is not answered. */
    SILENT,
    /** The request takes effect, and the connection is cut. */
    CUT,
    /** The answer comes from a server that is not etcd. */
    NOT_ETCD,
    /** The answer comes from a proxy that has no etcd, and says so without a body. */
    NO_BODY,
    /** The answer begins as JSON of another kind would. */
    NOT_FOUND_TEXT,
    NO_SPACE,
    NO_LEADER
  }

  private static final class Stored {
    private final byte[] value;
    private final long version;
    private final long lease;

    Stored(byte[] value, long version, long lease) {
      this.value = value;
      this.version = version;
      this.lease = lease;
    }

    byte[] value() {
      return value;
    }

    long version() {
      return version;
    }

    long lease() {
      return lease;
    }
  }

  /** A request that etcd would refuse. */
  private static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    final int status;
    final int code;

    Refused(int status, int code, String message) {
      super(message);
      this.status = status;
      this.code = code;
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
  private final SortedMap<byte[], Stored> keys = new TreeMap<>(Arrays::compareUnsigned);
  private final Set<Long> leases = new HashSet<>();
  private final AtomicInteger tokens = new AtomicInteger();

  volatile Fault fault = Fault.NONE;

  /** The password of users; empty if no authentication is required. */
  volatile String password = "";

  FakeEtcd() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
    server.createContext("/", this::serve);
    server.setExecutor(threads);
    server.start();
  }

  String host() {
    return "127.0.0.1:" + server.getAddress().getPort();
  }

  /** Ends all tokens and leases. */
  synchronized void forget() {
    tokens.incrementAndGet();
    keys.values().removeIf(each -> each.lease() != 0);
    leases.clear();
  }

  synchronized long count() {
    return keys.size();
  }

  private void serve(HttpExchange exchange) throws IOException {
    Fault now = fault;
    byte[] body;
    int status = 200;
    byte[] request = exchange.getRequestBody().readAllBytes();
    try {
      body = JSON.writeValueAsBytes(answer(now, exchange, request));
    } catch (Refused e) {
      status = e.status;
      body =
          JSON.writeValueAsBytes(
              Map.of("error", e.getMessage(), "code", e.code, "message", e.getMessage()));
    }
    switch (now) {
      case SILENT -> {
        boolean unused = closed.join();
        exchange.close();
        return;
      }
      case CUT -> {
        exchange.close();
        return;
      }
      case NOT_ETCD -> body = "<html>".getBytes(UTF_8);
      case NO_BODY -> {
        exchange.sendResponseHeaders(503, -1);
        exchange.close();
        return;
      }
      case NOT_FOUND_TEXT -> {
        status = 404;
        body = "404 page not found\n".getBytes(UTF_8);
      }
      default -> {}
    }
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private synchronized Map<String, Object> answer(Fault now, HttpExchange exchange, byte[] json)
      throws IOException {
    JsonNode request = JSON.readTree(json);
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/v3/auth/authenticate")) {
      if (!request.path("password").asText().equals(password)) {
        throw new Refused(400, 3, "etcdserver: authentication failed, invalid user ID or password");
      }
      return Map.of("token", "token." + tokens);
    }
    String token = exchange.getRequestHeaders().getFirst("Authorization");
    if (!password.isEmpty() && token == null) {
      throw new Refused(400, 3, "etcdserver: user name is empty");
    }
    if (!password.isEmpty() && !("token." + tokens).equals(token)) {
      throw new Refused(401, 16, "etcdserver: invalid auth token");
    }
    if (now == Fault.NO_LEADER) {
      throw new Refused(503, 14, "etcdserver: no leader");
    }
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("header", Map.of("revision", 1));
    switch (path) {
      case "/v3/kv/range" -> answer.putAll(range(request));
      case "/v3/kv/put" -> put(now, request);
      case "/v3/kv/deleterange" -> keys.remove(bytes(request, "key"));
      case "/v3/kv/txn" -> answer.putAll(transact(now, request));
      case "/v3/lease/grant" -> {
        leases.add(leases.size() + 7_587_000_000_000_000_000L);
        answer.put("ID", leases.size() - 1 + 7_587_000_000_000_000_000L);
      }
      default -> throw new Refused(404, 5, "Not Found");
    }
    return answer;
  }

  private static byte[] bytes(JsonNode of, String name) {
    return Base64.getDecoder().decode(of.path(name).asText());
  }

  private Map<String, Object> range(JsonNode request) {
    SortedMap<byte[], Stored> found = new TreeMap<>(Arrays::compareUnsigned);
    byte[] key = bytes(request, "key");
    if (request.has("range_end")) {
      found.putAll(keys.subMap(key, bytes(request, "range_end")));
    } else if (keys.containsKey(key)) {
      found.putAll(keys.subMap(key, Arrays.copyOf(key, key.length + 1)));
    }
    long limit = request.path("limit").asLong();
    List<Map<String, Object>> items = new ArrayList<>();
    found.forEach(
        (each, stored) -> {
          if (limit == 0 || items.size() < limit) {
            items.add(Map.of("key", each, "value", stored.value(), "version", stored.version()));
          }
        });
    // etcd omits empty lists.
    return items.isEmpty() ? Map.of() : Map.of("kvs", items, "count", found.size());
  }

  private void put(Fault now, JsonNode request) {
    byte[] key = bytes(request, "key");
    byte[] value = bytes(request, "value");
    requireSpace(now, key.length + value.length);
    long lease = request.path("lease").asLong();
    if (lease != 0 && !leases.contains(lease)) {
      throw new Refused(404, 5, "etcdserver: requested lease not found");
    }
    Stored before = keys.get(key);
    keys.put(key, new Stored(value, before == null ? 1 : before.version() + 1, lease));
  }

  private static void requireSpace(Fault now, long bytes) {
    if (now == Fault.NO_SPACE) {
      throw new Refused(429, 8, "etcdserver: mvcc: database space exceeded");
    }
    if (bytes > MAX_REQUEST_BYTES) {
      throw new Refused(400, 3, "etcdserver: request is too large");
    }
  }

  private Map<String, Object> transact(Fault now, JsonNode request) {
    JsonNode operations = request.path("success");
    if (operations.size() > MAX_OPERATIONS) {
      throw new Refused(400, 3, "etcdserver: too many operations in txn request");
    }
    Set<String> written = new HashSet<>();
    long bytes = 0;
    for (JsonNode operation : operations) {
      JsonNode put = operation.path("request_put");
      bytes += bytes(put, "key").length + bytes(put, "value").length;
      if (operation.has("request_put") && !written.add(put.path("key").asText())) {
        throw new Refused(400, 3, "etcdserver: duplicate key given in txn request");
      }
    }
    if (bytes > 0) {
      requireSpace(now, bytes);
    }
    for (JsonNode compare : request.path("compare")) {
      if (!holds(compare)) {
        return Map.of();
      }
    }
    List<Map<String, Object>> responses = new ArrayList<>();
    for (JsonNode operation : operations) {
      if (operation.has("request_range")) {
        responses.add(Map.of("response_range", range(operation.path("request_range"))));
      } else {
        put(now, operation.path("request_put"));
        responses.add(Map.of("response_put", new HashMap<>()));
      }
    }
    return Map.of("succeeded", true, "responses", responses);
  }

  private boolean holds(JsonNode compare) {
    Stored stored = keys.get(bytes(compare, "key"));
    if (!compare.path("result").asText().equals("EQUAL")) {
      throw new Refused(400, 3, "result: " + compare.path("result").asText());
    }
    return switch (compare.path("target").asText()) {
      case "VERSION" -> (stored == null ? 0 : stored.version()) == compare.path("version").asLong();
      case "VALUE" -> stored != null && Arrays.equals(stored.value(), bytes(compare, "value"));
      default -> throw new Refused(400, 3, "target: " + compare.path("target").asText());
    };
  }

  @Override
  public void close() {
    closed.complete(true);
    server.stop(0);
    threads.shutdownNow();
  }

  static FakeEtcd start() {
    try {
      return new FakeEtcd();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
