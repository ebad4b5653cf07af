package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.identity.MissingValue;
import dev.weir.identity.RequestView;
import dev.weir.identity.Source;
import dev.weir.testkit.LateStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestLimiterTest {
  private final LimitedEngine limits = new LimitedEngine();

  private static Verdict decide(RequestLimiter limiter, RequestView view) {
    return LimitedEngine.decide(limiter, view);
  }

  @Test
  void withoutSettings_eachAddressIsLimited() {
    RequestLimiter limiter = RequestLimiter.builder(limits.engine).build();
    assertThat(limiter.uses(Source.IP)).isTrue();
    assertThat(limiter.uses(Source.LOGIN)).isFalse();
    for (int i = 0; i < 2; i++) {
      assertThat(decide(limiter, TestView.get("/")).status()).isEqualTo(200);
    }
    assertThat(decide(limiter, TestView.get("/")).status()).isEqualTo(429);
    assertThat(decide(limiter, TestView.get("/").peer("203.0.113.8")).status()).isEqualTo(200);
  }

  @Test
  void severalDescriptors_areAllOrNothing() {
    RequestLimiter both = limits.limiter("ip={ip}").descriptor("user={login}").build();
    for (int i = 0; i < 2; i++) {
      assertThat(decide(both, TestView.get("/").login("alice")).passes()).isTrue();
    }
    TestView elsewhere = TestView.get("/").login("alice").peer("203.0.113.8");
    assertThat(decide(both, elsewhere).passes()).isFalse();
    RequestLimiter byAddress = limits.limiter("ip={ip}").build();
    assertThat(LimitedEngine.fields(decide(byAddress, elsewhere)).get("RateLimit"))
        .as("the refusal has charged nothing")
        .containsExactly("\"by-ip\";r=1;t=40");
  }

  @Test
  void methods_areThoseGivenInAnyCaseAndHeadWithGet() {
    RequestLimiter limiter = limits.limiter("ip={ip}").methods("post", "GET").build();
    for (String method : List.of("POST", "post", "Post", "GET", "HEAD")) {
      assertThat(LimitedEngine.counted(limiter, TestView.of(method, "/"))).as(method).isTrue();
    }
    for (String method : List.of("PUT", "OPTIONS", "", "POST ")) {
      assertThat(LimitedEngine.counted(limiter, TestView.of(method, "/"))).as(method).isFalse();
    }
    RequestLimiter posts = limits.limiter("ip={ip}").methods("POST").build();
    assertThat(LimitedEngine.counted(posts, TestView.of("HEAD", "/"))).isFalse();
  }

  @Test
  void preflight_isExemptOnlyIfItIsOne() {
    RequestLimiter limiter = limits.limiter("ip={ip}").build();
    String origin = "https://shop.example";
    TestView preflight =
        TestView.of("OPTIONS", "/")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "PUT");
    assertThat(LimitedEngine.counted(limiter, preflight)).isFalse();
    assertThat(LimitedEngine.counted(limiter, TestView.of("OPTIONS", "/").header("Origin", origin)))
        .isTrue();
    assertThat(
            LimitedEngine.counted(
                limiter,
                TestView.of("PUT", "/")
                    .header("Origin", origin)
                    .header("Access-Control-Request-Method", "PUT")))
        .isTrue();
    RequestLimiter all = limits.limiter("ip={ip}").exemptPreflight(false).build();
    assertThat(LimitedEngine.counted(all, preflight)).isTrue();
  }

  @Test
  void missingValue_isSharedSkippedOrABadRequest() {
    String template = "user={header:X-User}";
    RequestLimiter shared = limits.limiter(template).build();
    for (int i = 0; i < 2; i++) {
      assertThat(decide(shared, TestView.get("/").peer("203.0.113." + i)).passes()).isTrue();
    }
    assertThat(decide(shared, TestView.get("/")).status()).isEqualTo(429);

    RequestLimiter skipped = limits.limiter(template).missing(MissingValue.SKIP).build();
    Verdict unlimited = decide(skipped, TestView.get("/"));
    assertThat(unlimited.passes()).isTrue();
    assertThat(unlimited.answer()).isNull();
    assertThat(LimitedEngine.fields(unlimited)).isEmpty();

    RequestLimiter refused = limits.limiter(template).missing(MissingValue.REFUSE).build();
    for (TestView view :
        List.of(TestView.get("/"), TestView.get("/").header("X-User", "alice", "bob"))) {
      Verdict bad = decide(refused, view);
      assertThat(bad.passes()).isFalse();
      assertThat(bad.status()).isEqualTo(400);
      assertThat(bad.detail()).isEqualTo("header:X-User: missing (expected: one value)");
      assertThat(LimitedEngine.fields(bad)).containsOnlyKeys("Cache-Control");
      assertThat(new String(bad.refusal().bytes(), StandardCharsets.UTF_8))
          .isEqualTo(
              "{\"type\":\"about:blank\",\"title\":\"Bad request\",\"status\":400,"
                  + "\"detail\":\"header:X-User: missing (expected: one value)\"}");
      assertThat(bad.maxWaitNanos()).isZero();
      bad.responded(400);
      bad.abandoned();
    }
  }

  @Test
  void skippedDescriptor_leavesTheOthers() {
    RequestLimiter limiter =
        limits.limiter("user={login}").descriptor("ip={ip}").missing(MissingValue.SKIP).build();
    decide(limiter, TestView.get("/"));
    decide(limiter, TestView.get("/"));
    assertThat(decide(limiter, TestView.get("/").login("alice")).passes()).isFalse();
  }

  @Test
  void permits_areWhatTheRequestCosts() {
    assertThat(decide(limits.limiter("ip={ip}").permits(2).build(), TestView.get("/")).passes())
        .isTrue();
    RequestLimiter free = limits.limiter("ip={ip}").permits(0).build();
    for (int i = 0; i < 5; i++) {
      assertThat(decide(free, TestView.get("/")).passes()).as("only looks").isTrue();
    }
    assertThat(decide(limits.limiter("ip={ip}").build(), TestView.get("/")).passes()).isFalse();
    Verdict never =
        decide(
            limits.limiter("ip={ip}").permits(Long.MAX_VALUE).build(),
            TestView.get("/").peer("203.0.113.8"));
    assertThat(never.status()).isEqualTo(429);
    assertThat(LimitedEngine.fields(never)).doesNotContainKey("Retry-After");
    assertThatThrownBy(() -> limits.limiter("ip={ip}").permits(-1))
        .hasMessage("permits: -1 (expected: at least 0)");
  }

  /** A number that a client may have sent must not lift the limit. */
  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE})
  void negativePermits_areOne(long permits) {
    RequestLimiter limiter = limits.limiter("ip={ip}").permits(request -> permits).build();
    decide(limiter, TestView.get("/"));
    decide(limiter, TestView.get("/"));
    assertThat(decide(limiter, TestView.get("/")).passes()).isFalse();
  }

  @Test
  void noRules_isTemporarilyUnavailable() {
    try (Engine empty = Engine.create(new MemoryStore(), limits.ticker, EngineSettings.DEFAULTS)) {
      Verdict verdict = decide(RequestLimiter.builder(empty).build(), TestView.get("/"));
      assertThat(verdict.passes()).isFalse();
      assertThat(verdict.status()).isEqualTo(503);
      assertThat(verdict.answer()).isNotNull();
      assertThat(verdict.detail()).isEqualTo("The limits of this request cannot be checked now.");
      assertThat(LimitedEngine.fields(verdict)).containsOnlyKeys("Cache-Control");
      assertThat(new String(verdict.refusal().bytes(), StandardCharsets.UTF_8))
          .contains("\"status\":503")
          .doesNotContain("configuration");
      assertThat(verdict.maxWaitNanos()).isZero();
      List<Verdict> later = new ArrayList<>();
      assertThat(verdict.enqueue(Long.MAX_VALUE, later::add).leave()).isFalse();
      assertThat(later).containsExactly(verdict);
      verdict.abandoned();
    }
  }

  @Test
  void unknownDomain_isNotLimited() {
    Verdict verdict = decide(limits.limiter("ip={ip}").domain("other").build(), TestView.get("/"));
    assertThat(verdict.passes()).isTrue();
    assertThat(LimitedEngine.fields(verdict)).isEmpty();
  }

  @Test
  void overlongDomain_isUnavailable() {
    RequestLimiter limiter = limits.limiter("ip={ip}").domain("d".repeat(100_000)).build();
    assertThat(decide(limiter, TestView.get("/")).status()).isEqualTo(503);
  }

  /** A client that sends long values must not be answered as if the server were at fault. */
  @Test
  void longValues_areLimitedLikeOthers() {
    RequestLimiter limiter =
        limits.limiter("user={login|ip}-{header:A}-{header:A}{header:A}{header:B}").build();
    String most = "x".repeat(1_024);
    TestView view = TestView.get("/").login(most).header("A", most).header("B", most);
    assertThat(decide(limiter, view).status()).isEqualTo(200);
    assertThat(decide(limiter, view).status()).isEqualTo(200);
    assertThat(decide(limiter, view).status()).isEqualTo(429);
    view.header("B", "x".repeat(1_023) + "y");
    assertThat(decide(limiter, view).status()).as("another key").isEqualTo(200);
  }

  @Test
  void answerThatComesLate_isHandedOnOnce() {
    LateStore store = new LateStore();
    LimitedEngine late = new LimitedEngine(store);
    List<Verdict> verdicts = new ArrayList<>();
    late.limiter("ip={ip}").build().decide(TestView.get("/"), verdicts::add);
    assertThat(verdicts).isEmpty();
    assertThat(store.answer()).isEqualTo(1);
    assertThat(verdicts).hasSize(1);
    assertThat(verdicts.get(0).status()).isEqualTo(200);
  }

  @Test
  void settingsThatLimitNothing_areRefused() {
    RequestLimiter.Builder builder = RequestLimiter.builder(limits.engine);
    assertThatThrownBy(builder::refundUnless)
        .hasMessage("refundUnless: none (expected: at least one status)");
    assertThatThrownBy(() -> builder.refundUnless(401, 42))
        .hasMessage("refundUnless: 42 (expected: 100..599)");
    assertThatThrownBy(() -> builder.domain(""))
        .hasMessage("domain: \"\" (expected: at least 1 character)");
    assertThatThrownBy(() -> builder.methods("GET "))
        .hasMessage("methods: \"GET \" (expected: a method such as GET)");
    assertThatThrownBy(() -> builder.maxWait(Duration.ofNanos(-1)))
        .hasMessage("maxWait: PT-0.000000001S (expected: at least 0)");
    for (String origin :
        List.of(
            "",
            "null",
            "shop.example",
            "https://shop.example/",
            "https://Shop.example",
            "https://*.shop.example",
            "https://shop.example\r\nX: y",
            "https://a, https://b")) {
      assertThatThrownBy(() -> builder.allowOrigins(origin))
          .hasMessageStartingWith("allowOrigins: \"")
          .hasMessageEndingWith("(expected: an origin such as https://shop.example, or *)");
    }
    builder.allowOrigins(
        "*", "http://localhost:8080", "https://shop.example", "app://a", "http://[::1]:80");
  }

  @Test
  void limitersOfOneBuilder_areIndependent() {
    RequestLimiter.Builder builder = limits.limiter("ip={ip}");
    RequestLimiter first = builder.build();
    RequestLimiter second = builder.exempt("/").build();
    assertThat(LimitedEngine.counted(first, TestView.get("/"))).isTrue();
    assertThat(LimitedEngine.counted(second, TestView.get("/"))).isFalse();
  }
}
