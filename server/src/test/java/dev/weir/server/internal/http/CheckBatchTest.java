package dev.weir.server.internal.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.internal.Histogram;
import dev.weir.protocol.http.CheckBatch;
import dev.weir.rules.Rules;
import dev.weir.server.RunningServer;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.EventLoops;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.LateStore;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of many checks in one call over HTTP. */
class CheckBatchTest {
  @TempDir private static Path folder;
  private static RunningServer running;

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder, "max-descriptors", "20");
  }

  @AfterAll
  static void stop() {
    running.close();
  }

  private static String user(String name) {
    return "{\"domain\":\"test\",\"descriptor\":{\"user\":\"" + name + "\"}}";
  }

  private static String batch(List<String> checks) {
    return "{\"checks\":[" + String.join(",", checks) + "]}";
  }

  private static HttpResponse<String> post(String body) throws Exception {
    return running.post("/v1/check/batch", body);
  }

  /** Returns the answer without its times, which change between two calls. */
  private static String timeless(String json) {
    return json.replaceAll("(-ms\":)\\d+", "$1_").replaceAll("in \\d+ s", "in _ s");
  }

  @Test
  void eachResult_isWhatTheSingleCheckAnswers() throws Exception {
    List<String> singles = new ArrayList<>();
    List<String> checks =
        List.of(
            "{\"domain\":\"test\",\"descriptor\":{\"user\":\"NAME\"},\"permits\":2}",
            "{\"domain\":\"test\",\"descriptor\":{\"user\":\"NAME\"},\"permits\":2}",
            "{\"domain\":\"test\",\"descriptor\":{\"user\":\"NAME\"},\"permits\":0}",
            "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"odd\",\"value\":"
                + "\"NAME\"}]},{\"entries\":[{\"key\":\"never\"}]}]}",
            "{\"domain\":\"test\",\"descriptor\":{\"free\":\"NAME\"}}",
            "{\"domain\":\"test\",\"descriptor\":{\"user\":\"NAME\"}}");
    for (String check : checks) {
      singles.add(running.post("/v1/check", check.replace("NAME", "one-by-one")).body());
    }
    HttpResponse<String> all = post(batch(checks).replace("NAME", "together"));
    assertThat(all.statusCode()).isEqualTo(200);
    assertThat(all.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(all.headers().firstValue("Cache-Control")).contains("no-store");
    assertThat(timeless(all.body()))
        .isEqualTo(timeless("{\"revision\":1,\"results\":[" + String.join(",", singles) + "]}"));
    assertThat(all.body()).contains("\"allowed\":true", "\"status\":429,");
  }

  @Test
  void checkThatMakesNoSense_hasAnErrorAndDisturbsNoOther() throws Exception {
    List<String> checks =
        List.of(
            user("mixed"),
            "{\"domain\":\"test\",\"descriptor\":{\"user\":\"a\"},\"permits\":{\"x\":[{}]}}",
            "7",
            "[[{\"checks\":1}]]",
            "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"value\":\"v\"}],\"x\":1}]}",
            "{\"domain\":\"test\"}",
            "{\"domain\":\"\",\"descriptor\":{\"user\":\"a\"}}",
            "{\"domain\":\"test\",\"descriptors\":["
                + String.join(",", Collections.nCopies(21, "{\"entries\":[]}"))
                + "]}",
            user("mixed"));
    JsonArray results = results(post(batch(checks)));
    assertThat(results.asList().stream().map(CheckBatchTest::shown))
        .containsExactly(
            "remaining 2",
            "line 1, column 113: checks[1].permits: an object (expected: a whole number,"
                + " 0..4294967295)",
            "line 1, column 125: checks[2]: 7 (expected: a JSON object)",
            "line 1, column 127: checks[3]: a list (expected: a JSON object)",
            "line 1, column 200: checks[4].descriptors[0].entries[0].key: missing (expected: a"
                + " string)",
            "checks[5].descriptors: missing (expected: a list, or one descriptor)",
            "rate limit domain must not be empty",
            "descriptors: 21 (expected: at most 20)",
            "remaining 1");
  }

  private static String shown(JsonElement result) {
    JsonObject object = result.getAsJsonObject();
    if (object.has("error")) {
      assertThat(object.size()).isOne();
      return object.get("error").getAsString();
    }
    return "remaining "
        + object.getAsJsonArray("statuses").get(0).getAsJsonObject().get("remaining");
  }

  private static JsonArray results(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonParser.parseString(response.body()).getAsJsonObject().getAsJsonArray("results");
  }

  @Test
  void asManyAsAllowed_areAnsweredInOrder_andOneMoreIsRefusedWhole() throws Exception {
    List<String> checks = new ArrayList<>();
    for (int i = 0; i < CheckBatch.MAX_CHECKS; i++) {
      checks.add(user("u" + i % 250));
    }
    JsonArray results = results(post(batch(checks)));
    assertThat(results).hasSize(1_000);
    for (int i = 0; i < 1_000; i++) {
      assertThat(results.get(i).getAsJsonObject().get("allowed").getAsBoolean())
          .as("%d", i)
          .isEqualTo(i < 750);
    }
    checks.add("7");
    HttpResponse<String> refused = post(batch(checks));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("checks: more than 1000 (expected: at most 1000)");
  }

  @Test
  void tooManyDescriptorsTogether_areRefusedWhole() throws Exception {
    String check =
        "{\"domain\":\"test\",\"descriptors\":["
            + String.join(",", Collections.nCopies(20, "{\"entries\":[]}"))
            + "]}";
    assertThat(results(post(batch(Collections.nCopies(500, check))))).hasSize(500);
    HttpResponse<String> refused = post(batch(Collections.nCopies(501, check)));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("checks: 10020 descriptors (expected: at most 10000)");
  }

  @Test
  void callThatMakesNoSense_isRefusedWhole() throws Exception {
    Map<String, String> messages =
        Map.of(
            "", "body: empty (expected: a JSON object)",
            "[]", "line 1, column 1: body: a list (expected: a JSON object)",
            "{}", "line 1, column 2: checks: missing (expected: a list)",
            "{\"checks\":{}}", "line 1, column 11: checks: an object (expected: a list)",
            "{\"cheks\":[]}", "cheks: unknown (expected: one of checks)",
            "{\"checks\":[]} 1", "line 1, column 15: body: 1 (expected: nothing after the object)",
            "{\"checks\":[{\"domain\":7},", "line 1, column 25: ",
            "{\"checks\":[],\"checks\":[]}", "Duplicate field 'checks'");
    for (Map.Entry<String, String> each : messages.entrySet()) {
      HttpResponse<String> refused = post(each.getKey());
      assertThat(refused.statusCode()).as(each.getKey()).isEqualTo(400);
      assertThat(refused.body()).contains(each.getValue());
    }
    assertThat(post("{\"checks\":[]}").body()).isEqualTo("{\"revision\":1,\"results\":[]}");
  }

  @Test
  void storeThatAnswersLaterAndOutOfOrder_isWaitedFor() throws Exception {
    ServerSettings settings = ServerSettings.of(Map.of("port", "0"));
    LateStore store = new LateStore();
    try (Engine engine = Engine.create(store, Ticker.system(), EngineSettings.DEFAULTS)) {
      engine.apply(
          Objects.requireNonNull(Rules.parse("rules.yaml", RunningServer.RULES).ruleSet()));
      CompletableFuture<Void> decided = new CompletableFuture<>();
      List<Endpoint> endpoints = new ArrayList<>();
      for (Endpoint each :
          new Endpoints(
                  new GuardedDecider(
                      engine,
                      SystemLoad.of(ServerSettings.defaults(), Ticker.system()),
                      Ticker.system()),
                  settings,
                  () -> "",
                  new PrometheusRegistry(),
                  new RequestTimes(Histogram.ofRequests(), Ticker.system()),
                  Tracing.OFF)
              .all()) {
        Endpoint.Handler handler =
            (request, body, wait) -> {
              each.handler().handle(request, body, wait);
              decided.complete(null);
            };
        endpoints.add(
            new Endpoint(
                each.method(), each.path(), each.about(), each.typed(), each.anyMethod(), handler));
      }
      EventLoops loops = EventLoops.start(settings, Ticker.system());
      HttpDoor door =
          HttpDoor.open(
              settings,
              loops,
              new Routes(endpoints, off -> null, Tokens.notRequired()),
              Certificates.NONE,
              new DoorCounters(10, PendingBytes.of(settings, Ticker.system())),
              Ticker.system());
      String checks = batch(List.of(user("a"), "7", user("b"), user("a")));
      CompletableFuture<HttpResponse<String>> response =
          HttpClient.newHttpClient()
              .sendAsync(
                  HttpRequest.newBuilder(
                          URI.create("http://127.0.0.1:" + door.port() + "/v1/check/batch"))
                      .POST(HttpRequest.BodyPublishers.ofString(checks))
                      .build(),
                  HttpResponse.BodyHandlers.ofString());
      decided.get(30, TimeUnit.SECONDS);
      assertThat(store.due()).isEqualTo(3);
      assertThat(response).isNotDone();
      assertThat(store.answer()).isEqualTo(3);
      assertThat(
              results(response.get(30, TimeUnit.SECONDS)).asList().stream()
                  .map(CheckBatchTest::shown))
          .containsExactly(
              "remaining 2",
              "line 1, column 56: checks[1]: 7 (expected: a JSON object)",
              "remaining 2",
              "remaining 1");
      door.shut(Duration.ZERO);
      door.close(Duration.ZERO);
      loops.close();
    }
  }
}
