package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Ticker;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.rules.Rules;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that compare the refusals of middleware with those of the service, by the same rules. */
class MiddlewareBytesTest {
  /** Fields of the response that the limiter does not write. */
  private static final List<String> OF_THE_SERVER =
      List.of("content-length", "content-type", "date", ":status");

  @TempDir private static Path folder;
  private static RunningServer running;
  private static Engine engine;

  private record PlainRequest(String login, String accept) implements RequestView {
    @Override
    public String peer() {
      return "127.0.0.1";
    }

    @Override
    public List<String> headers(String name) {
      return name.equals("Accept") ? List.of(accept) : List.of();
    }

    @Override
    public String method() {
      return "GET";
    }

    @Override
    public String path() {
      return "/";
    }
  }

  @BeforeAll
  static void start() throws Exception {
    running = RunningServer.start(folder);
    engine = Engine.create(new MemoryStore(), Ticker.system(), EngineSettings.DEFAULTS);
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RunningServer.RULES).ruleSet()));
  }

  @AfterAll
  static void stop() {
    running.close();
    engine.close();
  }

  private static Verdict decide(String key, String value, String accept) {
    RequestLimiter limiter =
        RequestLimiter.builder(engine).domain("test").descriptor(key + "={login}").build();
    List<Verdict> verdicts = new ArrayList<>();
    limiter.decide(new PlainRequest(value, accept), verdicts::add);
    return verdicts.get(0);
  }

  private static HttpResponse<String> check(String key, String value, String accept)
      throws Exception {
    String body = "{\"domain\":\"test\",\"descriptor\":{\"" + key + "\":\"" + value + "\"}}";
    return running.send(
        HttpRequest.newBuilder(running.uri("/v1/check"))
            .header("Accept", accept)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private static Map<String, List<String>> fields(Verdict verdict) {
    Map<String, List<String>> fields = new TreeMap<>();
    verdict.fields(
        (name, value) ->
            fields
                .computeIfAbsent(name.toLowerCase(Locale.ROOT), first -> new ArrayList<>())
                .add(value));
    return fields;
  }

  private static Map<String, List<String>> fields(HttpResponse<?> response) {
    Map<String, List<String>> fields = new TreeMap<>();
    response
        .headers()
        .map()
        .forEach((name, values) -> fields.put(name.toLowerCase(Locale.ROOT), values));
    OF_THE_SERVER.forEach(fields::remove);
    return fields;
  }

  /**
   * Returns a text without times: the time until a request passes is the only value in which two
   * clocks can differ.
   */
  private static String timeless(String text) {
    return text.replaceAll("(retry-after-ms\":|reset-after-ms\":|Retry in |;t=)\\d+", "$1N");
  }

  /** A limit of 0: the only time in the answer is the reset. */
  @ParameterizedTest
  @ValueSource(strings = {"*/*", "application/json", "text/plain"})
  void refusal_hasTheBytesOfCheck(String accept) throws Exception {
    HttpResponse<String> expected = check("never", "fresh", accept);
    Verdict verdict = decide("never", "fresh", accept);
    assertThat(verdict.status()).isEqualTo(expected.statusCode()).isEqualTo(429);
    assertThat(new String(verdict.refusal().bytes(), StandardCharsets.UTF_8))
        .isEqualTo(expected.body());
    assertThat(verdict.refusal().contentType())
        .isEqualTo(expected.headers().firstValue("Content-Type").orElseThrow());
    assertThat(fields(verdict)).isEqualTo(fields(expected));
  }

  @Test
  void limitUsedUp_differsFromCheckInTimesOnly() throws Exception {
    for (int i = 0; i < 3; i++) {
      HttpResponse<String> expected = check("user", "alice", "*/*");
      Verdict verdict = decide("user", "alice", "*/*");
      assertThat(verdict.passes()).isTrue();
      Map<String, List<String>> withoutCache = fields(expected);
      assertThat(withoutCache.remove("cache-control"))
          .as("the service's answers are for one request; what middleware lets pass is not its own")
          .containsExactly("no-store");
      assertThat(timeless(fields(verdict).toString())).isEqualTo(timeless(withoutCache.toString()));
    }
    HttpResponse<String> expected = check("user", "alice", "*/*");
    Verdict verdict = decide("user", "alice", "*/*");
    assertThat(verdict.status()).isEqualTo(expected.statusCode()).isEqualTo(429);
    assertThat(timeless(new String(verdict.refusal().bytes(), StandardCharsets.UTF_8)))
        .isEqualTo(timeless(expected.body()));
    Map<String, List<String>> own = fields(verdict);
    Map<String, List<String>> others = fields(expected);
    assertThat(own.remove("retry-after")).hasSize(1);
    assertThat(others.remove("retry-after")).hasSize(1);
    assertThat(timeless(own.toString())).isEqualTo(timeless(others.toString()));
  }
}
