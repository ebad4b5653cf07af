package dev.weir.server;

import dev.weir.Ticker;
import dev.weir.admin.AdminHandler;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server on free ports of the loopback interface, with the usual requests to it. */
public final class RunningServer implements AutoCloseable {
  public static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 3, name: per-user}
        - key: tenant
          rate_limit: {unit: week, requests_per_unit: 1000}
        - key: never
          rate_limit: {unit: hour, requests_per_unit: 0}
        - key: free
          rate_limit: {unlimited: true}
        - key: allowed
        - key: odd
          rate_limit: {window: 90s, requests_per_unit: 5}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: day, requests_per_unit: 1}
      """;

  public final WeirServer server;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private RunningServer(WeirServer server) {
    this.server = server;
  }

  /** Starts a server with the rules above. */
  public static RunningServer start(Path folder, String... namesAndValues) throws Exception {
    Map<String, String> flags = new HashMap<>();
    flags.put("rules", Files.writeString(folder.resolve("rules.yaml"), RULES).toString());
    return start(flags, namesAndValues);
  }

  /** Starts a server with the rules above, and passes it on before it is ready. */
  static RunningServer start(Path folder, Consumer<WeirServer> begun, String... namesAndValues)
      throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    ServerSettings settings = settings(Map.of("rules", rules.toString()), namesAndValues);
    return new RunningServer(WeirServer.start(new ServerOptions(settings), begun));
  }

  /** Starts a server whose counts are read by an executor, and passes it on before it is ready. */
  static RunningServer start(
      Path rules, Executor reader, Consumer<WeirServer> begun, String... namesAndValues)
      throws Exception {
    ServerSettings settings = settings(Map.of("rules", rules.toString()), namesAndValues);
    Logs.install(settings, Ticker.system());
    return new RunningServer(WeirServer.start(settings, reader, begun));
  }

  /** Returns a server that was started elsewhere. */
  static RunningServer of(WeirServer server) {
    return new RunningServer(server);
  }

  public static RunningServer start(Map<String, String> base, String... namesAndValues)
      throws Exception {
    return new RunningServer(WeirServer.start(new ServerOptions(settings(base, namesAndValues))));
  }

  /** Starts a server with the rules above and a store that it shares. */
  public static RunningServer start(
      Path folder, SharedStoreConnection shared, String... namesAndValues) throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    ServerSettings settings = settings(Map.of("rules", rules.toString()), namesAndValues);
    Logs.install(settings, Ticker.system());
    return new RunningServer(WeirServer.start(settings, shared, Administration::api));
  }

  /** Starts a server on a configuration store, with a port for administration. */
  static RunningServer start(
      TestConfigStores.Shared store, AdminHandler handler, String... namesAndValues)
      throws Exception {
    ServerSettings settings =
        settings(Map.of("config-store", store.address, "admin-port", "0"), namesAndValues);
    Logs.install(settings, Ticker.system());
    return new RunningServer(WeirServer.start(settings, StoreConnection.NONE, inputs -> handler));
  }

  private static ServerSettings settings(Map<String, String> base, String... namesAndValues) {
    Map<String, String> flags = new HashMap<>(base);
    flags.putIfAbsent("port", "0");
    flags.putIfAbsent("grpc-port", "0");
    flags.putIfAbsent("resp-port", "0");
    flags.putIfAbsent("no-warmup", "true");
    flags.putIfAbsent("max-wait", "1h");
    flags.putIfAbsent("log-level", "info");
    for (int i = 0; i < namesAndValues.length; i += 2) {
      flags.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return ServerSettings.of(flags);
  }

  public URI uri(String path) {
    return URI.create("http://127.0.0.1:" + server.httpPort() + path);
  }

  public HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(uri(path)).GET());
  }

  public HttpResponse<String> post(String path, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri(path)).POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return send(request);
  }

  public HttpResponse<String> check(String key, String value)
      throws IOException, InterruptedException {
    return post(
        "/v1/check", "{\"domain\":\"test\",\"descriptor\":{\"" + key + "\":\"" + value + "\"}}");
  }

  public HttpResponse<String> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    return client.send(
        request.timeout(Duration.ofSeconds(30)).build(), HttpResponse.BodyHandlers.ofString());
  }

  /**
   * Returns the value of a series on the metrics page.
   *
   * @param series its name, with its labels if it has any
   */
  public long metric(String series) throws IOException, InterruptedException {
    Matcher line =
        Pattern.compile("^" + Pattern.quote(series) + " (\\S+)$", Pattern.MULTILINE)
            .matcher(get("/metrics").body());
    if (!line.find()) {
      throw new IOException(series + ": not on the metrics page");
    }
    return (long) Double.parseDouble(line.group(1));
  }

  @Override
  public void close() {
    server.close();
  }
}
