package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.spring.gateway.WeirGatewayFilterFactory;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringBootVersion;

/** Tests of limits in the routes of a gateway without proxies. Each test has routes of its own. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GatewayTest {
  /** A number of requests above that of the event loop's threads. */
  private static final int MANY = 100;

  private static final String FRIEND = "https://friend.example";

  private final Backend backend = new Backend();
  private @Nullable Gateway started;

  @BeforeAll
  void start() {
    started = new Gateway(backend);
  }

  @AfterAll
  void stop() {
    gateway().close();
    backend.close();
  }

  private Gateway gateway() {
    if (started == null) {
      throw new AssertionError("no gateway");
    }
    return started;
  }

  /** A request in the form of a limiter without a server. */
  private record Plain(String route) implements RequestView {
    @Override
    public String peer() {
      return "127.0.0.1";
    }

    @Override
    public List<String> headers(String name) {
      return List.of();
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

  /** Returns the verdicts of a limiter of the library on this many requests. */
  private List<Verdict> expected(int requests, String route, String descriptor) {
    FakeTicker ticker = new FakeTicker(gateway().ticker().nanos());
    try (Engine engine = Domains.engine(ticker, new MemoryStore(), "gateway")) {
      RequestLimiter limiter =
          RequestLimiter.builder(engine)
              .domain("gateway")
              .descriptor(descriptor)
              .ticker(ticker)
              .build();
      List<Verdict> verdicts = new ArrayList<>();
      for (int i = 0; i < requests; i++) {
        limiter.decide(new Plain(route), verdicts::add);
      }
      return verdicts;
    }
  }

  private static void assertFields(HttpResponse<?> response, Verdict expected) {
    Map<String, List<String>> fields = new TreeMap<>();
    expected.fields(
        (name, value) -> fields.computeIfAbsent(name, first -> new ArrayList<>()).add(value));
    assertThat(fields).containsKeys("RateLimit", "RateLimit-Policy");
    fields.forEach(
        (name, values) ->
            assertThat(response.headers().allValues(name)).as(name).isEqualTo(values));
  }

  @Test
  void versions_areThoseThatTheModuleNames() {
    assertThat(SpringBootVersion.getVersion())
        .isEqualTo(System.getProperty("expected.boot.version"));
    String gatewayJar =
        org.springframework.cloud.gateway.route.Route.class
            .getProtectionDomain()
            .getCodeSource()
            .getLocation()
            .toString();
    assertThat(gatewayJar).endsWith("-" + System.getProperty("expected.gateway.version") + ".jar");
    String ownClass =
        WeirGatewayFilterFactory.class
            .getProtectionDomain()
            .getCodeSource()
            .getLocation()
            .toString();
    assertThat(ownClass).contains("spring-gateway");
  }

  @Test
  void filter_admitsTheLimitAndAnswersAsAllMiddlewareDoes() {
    int calls = backend.calls.get();
    List<Verdict> expected = expected(3, "orders", "route={route},ip={ip}");
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> served = gateway().get("/orders/" + i);
      assertThat(served.statusCode()).isEqualTo(200);
      assertThat(served.body()).isEqualTo("/orders/" + i);
      assertFields(served, expected.get(i));
    }
    HttpResponse<String> refused = gateway().get("/orders/2");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertFields(refused, expected.get(2));
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    assertThat(refused.headers().allValues("Content-Type"))
        .containsExactly("application/problem+json");
    assertThat(refused.body())
        .isEqualTo(new String(expected.get(2).refusal().bytes(), StandardCharsets.UTF_8))
        .contains("quota-exceeded");
    HttpResponse<String> head = gateway().send("HEAD", "/orders/3").join();
    assertThat(head.statusCode()).isEqualTo(429);
    assertThat(head.body()).isEmpty();
    assertThat(backend.calls.get() - calls).isEqualTo(2);
    assertThat(gateway().status("/stock/0")).as("another route").isEqualTo(200);
    assertThat(gateway().status("/stock/1")).as("another route").isEqualTo(200);
    assertThat(gateway().status("/stock/2")).as("without descriptors").isEqualTo(429);
  }

  @Test
  void requestRateLimiter_admitsTheLimitAndHasTheFields() {
    int calls = backend.calls.get();
    List<Verdict> expected = expected(3, "own-orders", "route={route},key={ip}");
    for (int i = 0; i < 2; i++) {
      HttpResponse<String> served = gateway().get("/own/orders/" + i);
      assertThat(served.statusCode()).isEqualTo(200);
      assertFields(served, expected.get(i));
    }
    HttpResponse<String> refused = gateway().get("/own/orders/2");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertFields(refused, expected.get(2));
    assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    assertThat(backend.calls.get() - calls).isEqualTo(2);
    assertThat(gateway().status("/own/stock/0")).as("another route").isEqualTo(200);
  }

  @Test
  void gatewayWithoutFilters_chargesARequestOnce() {
    assertThat(gateway().context.containsBean("weirFilter0")).isFalse();
    assertThat(gateway().status("/address/0")).isEqualTo(200);
    assertThat(gateway().status("/address/1")).isEqualTo(200);
    assertThat(gateway().status("/address/2")).isEqualTo(429);
  }

  @Test
  void severalDescriptors_areChargedTogetherOrNotAtAll() {
    assertThat(gateway().status("/several", "X-User", "alice")).isEqualTo(200);
    assertThat(gateway().status("/several", "X-User", "alice")).isEqualTo(429);
    assertThat(gateway().status("/several", "X-User", "bob")).isEqualTo(200);
    assertThat(gateway().status("/several", "X-User", "carol")).as("by address").isEqualTo(429);
  }

  @Test
  void permits_areWhatARequestCosts() {
    assertThat(gateway().status("/large")).isEqualTo(200);
    assertThat(gateway().status("/large")).isEqualTo(429);
    assertThat(gateway().status("/own/large")).isEqualTo(200);
    assertThat(gateway().status("/own/large")).isEqualTo(429);
  }

  @Test
  void routeWrittenInJava_isLimitedToo() {
    assertThat(gateway().status("/coded")).isEqualTo(200);
    assertThat(gateway().status("/coded")).isEqualTo(429);
  }

  @Test
  void login_isTheAuthenticatedUser() {
    assertThat(gateway().status("/signed", "X-Authenticated", "erin")).isEqualTo(200);
    assertThat(gateway().status("/signed", "X-Authenticated", "erin")).isEqualTo(429);
    assertThat(gateway().status("/signed", "X-Authenticated", "frank")).isEqualTo(200);
  }

  @Test
  void missingValue_isRefusedWhereTheRouteSaysSo() {
    assertThat(gateway().status("/user")).isEqualTo(400);
    assertThat(gateway().status("/user", "X-User", "dave")).isEqualTo(200);
  }

  @Test
  void onlyFailedLoginsCount_othersAreGivenBack() {
    for (int i = 0; i < 3; i++) {
      assertThat(gateway().status("/login")).isEqualTo(200);
    }
    assertThat(gateway().status("/login?wrong")).isEqualTo(401);
    assertThat(gateway().status("/login?wrong")).isEqualTo(401);
    assertThat(gateway().status("/login")).isEqualTo(429);
  }

  @Test
  void refusal_canBeReadByOriginsThatTheGatewayAllows() {
    for (int i = 0; i < 2; i++) {
      assertThat(gateway().status("/cors", "Origin", FRIEND)).isEqualTo(200);
    }
    HttpResponse<String> refused = gateway().get("/cors", "Origin", FRIEND);
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().allValues("Access-Control-Allow-Origin")).containsExactly(FRIEND);
    assertThat(String.join(", ", refused.headers().allValues("Access-Control-Expose-Headers")))
        .contains("RateLimit", "Retry-After");
  }

  @Test
  void spoofedHeader_makesNoNewKey() {
    for (String path : List.of("/spoofed", "/own/spoofed")) {
      assertThat(gateway().status(path, "X-Forwarded-For", "6.6.6.6")).isEqualTo(200);
      assertThat(gateway().status(path, "X-Forwarded-For", "6.6.6.7")).isEqualTo(200);
      assertThat(gateway().status(path, "X-Forwarded-For", "6.6.6.8")).as(path).isEqualTo(429);
      assertThat(gateway().status(path, "Forwarded", "for=6.6.6.9")).as(path).isEqualTo(429);
    }
  }

  @Test
  void requestThatCannotBeDecided_isAnsweredWith503() {
    int calls = backend.calls.get();
    HttpResponse<String> refused = gateway().get("/unready");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.headers().allValues("Content-Type"))
        .containsExactly("application/problem+json");
    assertThat(refused.headers().allValues("Cache-Control")).containsExactly("no-store");
    assertThat(refused.body()).contains("cannot be checked now");
    assertThat(gateway().status("/own/unready")).isEqualTo(503);
    assertThat(backend.calls.get()).isEqualTo(calls);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/late", "/own/late"})
  void manyAnswersAreLate_theEventLoopServesOthers(String path) {
    LateStore store = gateway().domains().late;
    List<CompletableFuture<HttpResponse<String>>> late = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      late.add(gateway().send("GET", path));
    }
    Gateway.await("requests at the store", () -> store.due() == MANY);
    // All threads of the loop would be blocked by now.
    for (int i = 0; i < 20; i++) {
      assertThat(gateway().status("/open")).isEqualTo(200);
    }
    assertThat(late).noneMatch(CompletableFuture::isDone);
    int unused = store.answer();
    List<Integer> statuses = late.stream().map(each -> each.join().statusCode()).toList();
    assertThat(statuses.stream().filter(status -> status == 200)).hasSize(2);
    assertThat(statuses.stream().filter(status -> status == 429)).hasSize(MANY - 2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/turn", "/own/turn"})
  void excessRequest_waitsForItsTurn(String path) {
    Engine engine = gateway().domains().gateway;
    assertThat(gateway().status(path)).isEqualTo(200);
    CompletableFuture<HttpResponse<String>> waiting = gateway().send("GET", path);
    Gateway.await("a request in the queue", () -> engine.metrics().queues().waiting() == 1);
    assertThat(gateway().status(path)).as("the queue is full").isEqualTo(429);
    assertThat(waiting).isNotDone();
    gateway().ticker().advance(1_000_000_000L);
    assertThat(waiting.join().statusCode()).isEqualTo(200);
    assertThat(waiting.join().body()).isEqualTo(path);
  }
}
