package dev.weir.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.rows.Tree;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Rules;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** The administration interface over a store in memory, behind a small server of the JDK. */
public final class AdminServer implements AutoCloseable {
  public static final String RULES =
      """
      domain: shop
      plans:
        gold: {user-minute: {requests_per_unit: 1000}}
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 100, by: user}
      """;

  public static final Cause CAUSE = Cause.of("bob", "made elsewhere");

  public final ConfigStore store;
  private final Engine engine;
  private final HttpServer http;
  private final Path folder;
  private final Map<String, Runnable> before = new HashMap<>();
  private final List<String> requests = new ArrayList<>();

  /**
   * @param folder the folder for files with tokens
   */
  public AdminServer(Path folder) throws IOException {
    this(folder, ConfigStores.inMemory(Ticker.wall()));
  }

  public AdminServer(Path folder, ConfigStore store) throws IOException {
    this.folder = folder;
    this.store = store;
    engine = Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS);
    engine.apply(Objects.requireNonNull(Rules.parse("shop.yaml", RULES).ruleSet()));
    for (Role role : Role.values()) {
      Files.writeString(
          tokenFile(role),
          Tokens.create(store, role.text(), role, Tokens.DEFAULT_TTL, CAUSE).text() + "\n");
    }
    AdminApi api = AdminApi.builder(store, engine).build();
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/", exchange -> answer(api, exchange));
    http.start();
  }

  private void answer(AdminApi api, HttpExchange exchange) throws IOException {
    String method = exchange.getRequestMethod();
    String path = exchange.getRequestURI().getRawPath();
    requests.add(method + " " + path);
    byte[] body = exchange.getRequestBody().readAllBytes();
    Runnable first = before.remove(method);
    if (first != null) {
      first.run();
    }
    Map<String, List<String>> fields = new HashMap<>();
    exchange
        .getRequestHeaders()
        .forEach((name, values) -> fields.put(name.toLowerCase(Locale.ROOT), values));
    String query = exchange.getRequestURI().getRawQuery();
    AdminResponse answer =
        api.handle(
            new AdminRequest(
                method,
                path,
                query == null ? "" : query,
                fields,
                new ByteArrayInputStream(body),
                "127.0.0.1",
                false));
    answer.fields().forEach((name, value) -> exchange.getResponseHeaders().set(name, value));
    if (!answer.body().hasNext()) {
      exchange.sendResponseHeaders(answer.status(), -1);
    } else {
      exchange.sendResponseHeaders(answer.status(), 0);
      try (OutputStream out = exchange.getResponseBody()) {
        while (answer.body().hasNext()) {
          out.write(answer.body().next());
        }
      }
    }
    exchange.close();
  }

  public String url() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  public Path tokenFile(Role role) {
    return folder.resolve(role.text() + ".token");
  }

  /** Runs a command as an operator. */
  public Ran weir(String... arguments) {
    return as(Role.OPERATOR, arguments);
  }

  public Ran as(Role role, String... arguments) {
    List<String> all = new ArrayList<>(Arrays.asList(arguments));
    // They come before the other arguments, because there may be a -- among these.
    List<String> flags =
        List.of("--server", url(), "--token-file", tokenFile(role).toString(), "--timeout", "60");
    all.addAll(List.of("audit", "dashboard").contains(arguments[0]) ? 1 : 2, flags);
    return Ran.weir(all.toArray(new String[0]));
  }

  /** Sets an action for the moment before the next request of a method is answered. */
  public void before(String method, Runnable action) {
    before.put(method, action);
  }

  /** Returns the requests since the last call of this method. */
  public List<String> requests() {
    List<String> all = List.copyOf(requests);
    requests.clear();
    return all;
  }

  /** Makes a revision in another author's name. */
  public void commit(String name, String text) {
    long revision = store.head().revision();
    Map<String, String> texts = new HashMap<>();
    if (revision > 0) {
      Tree tree = store.revision(revision).orElseThrow().tree();
      Map<String, String> byHash = store.texts(tree.files().values());
      tree.files()
          .forEach((file, hash) -> texts.put(file, Objects.requireNonNull(byHash.get(hash))));
    }
    texts.put(name, text);
    store.commit(revision, Tree.of(texts), texts.values(), CAUSE);
  }

  @Override
  public void close() {
    http.stop(0);
    engine.close();
    store.close();
  }
}
