package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.engine.Answer;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.protocol.http.OlderFields;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VerdictFieldsTest {
  private static final String ORIGIN = "https://shop.example";

  private final LimitedEngine limits = new LimitedEngine();

  private Map<String, List<String>> refusal(RequestLimiter.Builder builder, TestView view) {
    Verdict verdict = LimitedEngine.decide(builder.descriptor("never={ip}").build(), view);
    assertThat(verdict.status()).isEqualTo(429);
    return LimitedEngine.fields(verdict);
  }

  private RequestLimiter.Builder builder() {
    return RequestLimiter.builder(limits.engine).ticker(limits.ticker);
  }

  private static String body(Verdict verdict) {
    return new String(verdict.refusal().bytes(), StandardCharsets.UTF_8);
  }

  @Test
  void passing_tellsTheStanding() {
    Verdict verdict = LimitedEngine.decide(limits.limiter("ip={ip}").build(), TestView.get("/"));
    assertThat(LimitedEngine.fields(verdict))
        .isEqualTo(
            Map.of(
                "RateLimit-Policy", List.of("\"by-ip\";q=2;w=60"),
                "RateLimit", List.of("\"by-ip\";r=1;t=40")));
    assertThat(verdict.detail()).isEqualTo("OK");
    assertThatThrownBy(verdict::refusal).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void refused_isToldWhenToComeBack() {
    RequestLimiter limiter = limits.limiter("ip={ip}").build();
    LimitedEngine.decide(limiter, TestView.get("/"));
    LimitedEngine.decide(limiter, TestView.get("/"));
    Verdict verdict = LimitedEngine.decide(limiter, TestView.get("/"));
    assertThat(LimitedEngine.fields(verdict))
        .isEqualTo(
            Map.of(
                "RateLimit-Policy", List.of("\"by-ip\";q=2;w=60"),
                "RateLimit", List.of("\"by-ip\";r=0;t=40"),
                "Retry-After", List.of("40"),
                "Cache-Control", List.of("no-store")));
    assertThat(verdict.detail())
        .isEqualTo("Policy by-ip allows 2 requests per 60 s. Retry in 40 s.");
  }

  @Test
  void fields_areTheSameEachTime() {
    Verdict verdict =
        LimitedEngine.decide(
            limits.limiter("ip={ip}").descriptor("user={login}").build(), TestView.get("/"));
    assertThat(LimitedEngine.fields(verdict)).isEqualTo(LimitedEngine.fields(verdict));
    assertThat(LimitedEngine.fields(verdict).get("RateLimit-Policy"))
        .containsExactly("\"by-ip\";q=2;w=60, \"by-user\";q=2;w=60");
  }

  /** The texts kept of one answer must not appear in another one. */
  @Test
  void rulesChangedOrOtherDescriptors_fieldsAreTheirs() {
    RequestLimiter limiter =
        limits
            .limiter("ip={ip}")
            .descriptor("user={login}")
            .missing(dev.weir.identity.MissingValue.SKIP)
            .build();
    for (int i = 0; i < 2; i++) {
      TestView anonymous = TestView.get("/").peer("203.0.113.1" + i);
      TestView user = TestView.get("/").peer("203.0.113.2" + i).login("u" + i);
      assertThat(policy(limiter, anonymous)).isEqualTo("\"by-ip\";q=2;w=60");
      assertThat(policy(limiter, user)).isEqualTo("\"by-ip\";q=2;w=60, \"by-user\";q=2;w=60");
    }
    limits.engine.apply(
        LimitedEngine.rules(
            LimitedEngine.RULES.replace("requests_per_unit: 2", "requests_per_unit: 9")));
    assertThat(policy(limiter, TestView.get("/"))).isEqualTo("\"by-ip\";q=9;w=60");
  }

  private static String policy(RequestLimiter limiter, TestView view) {
    List<String> lines =
        Objects.requireNonNull(
            LimitedEngine.fields(LimitedEngine.decide(limiter, view)).get("RateLimit-Policy"));
    return String.join(" | ", lines);
  }

  @Test
  void fieldsOff_leaveOnlyTheRefusals() {
    TestView view = TestView.get("/").header("Origin", ORIGIN);
    assertThat(refusal(builder().fields(false), view))
        .isEqualTo(
            Map.of(
                "Cache-Control", List.of("no-store"),
                "Access-Control-Expose-Headers", List.of("Retry-After")));
  }

  @Test
  void olderFields_areAddedAndExposed() {
    TestView view = TestView.get("/").header("Origin", ORIGIN);
    Map<String, List<String>> fields =
        LimitedEngine.fields(
            LimitedEngine.decide(
                limits.limiter("ip={ip}").olderFields(OlderFields.GITHUB).build(), view));
    assertThat(fields)
        .containsEntry("X-RateLimit-Limit", List.of("2"))
        .containsEntry("X-RateLimit-Remaining", List.of("1"))
        .containsEntry("X-RateLimit-Reset", List.of("1700000040"))
        .containsEntry(
            "Access-Control-Expose-Headers",
            List.of(
                "RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining,"
                    + " X-RateLimit-Reset, Retry-After"));
  }

  @Test
  void sameOrigin_hasNoCrossOriginFields() {
    assertThat(refusal(builder().allowOrigins("*", ORIGIN), TestView.get("/")))
        .containsOnlyKeys("Cache-Control", "RateLimit", "RateLimit-Policy");
  }

  @Test
  void allowedOrigin_readsRefusalsWithCredentials() {
    assertThat(refusal(builder().allowOrigins(ORIGIN), TestView.get("/").header("Origin", ORIGIN)))
        .containsEntry("Access-Control-Allow-Origin", List.of(ORIGIN))
        .containsEntry("Access-Control-Allow-Credentials", List.of("true"))
        .containsEntry("Vary", List.of("Origin"));
  }

  @Test
  void anyOrigin_readsRefusalsWithoutCredentials() {
    assertThat(refusal(builder().allowOrigins("*"), TestView.get("/").header("Origin", "null")))
        .containsEntry("Access-Control-Allow-Origin", List.of("*"))
        .doesNotContainKeys("Access-Control-Allow-Credentials", "Vary");
  }

  /** A page that is named may send its cookies, whatever is allowed to all others. */
  @Test
  void namedOriginBesideAny_readsRefusalsWithCredentials() {
    assertThat(
            refusal(
                builder().allowOrigins("*", ORIGIN), TestView.get("/").header("Origin", ORIGIN)))
        .containsEntry("Access-Control-Allow-Origin", List.of(ORIGIN))
        .containsEntry("Access-Control-Allow-Credentials", List.of("true"))
        .containsEntry("Vary", List.of("Origin"));
    assertThat(
            refusal(
                builder().allowOrigins("*", ORIGIN),
                TestView.get("/").header("Origin", "https://other.example")))
        .containsEntry("Access-Control-Allow-Origin", List.of("*"))
        .doesNotContainKey("Access-Control-Allow-Credentials")
        .containsEntry("Vary", List.of("Origin"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://other.example",
        "null",
        "",
        "https://shop.example.evil.example",
        "https://shop.example\r\nSet-Cookie: a=b",
        "HTTPS://SHOP.EXAMPLE",
        "*",
      })
  void otherOrigin_isNotAllowed(String origin) {
    Map<String, List<String>> fields =
        refusal(builder().allowOrigins(ORIGIN), TestView.get("/").header("Origin", origin));
    assertThat(fields)
        .doesNotContainKeys("Access-Control-Allow-Origin", "Access-Control-Allow-Credentials")
        .containsEntry("Vary", List.of("Origin"));
    assertThat(fields.toString()).doesNotContain("Cookie");
  }

  @Test
  void severalOrigins_areNone() {
    TestView view = TestView.get("/").header("Origin", ORIGIN, "https://evil.example");
    assertThat(refusal(builder().allowOrigins(ORIGIN), view))
        .doesNotContainKey("Access-Control-Allow-Origin");
  }

  @Test
  void passing_leavesTheOriginToTheApplication() {
    TestView view = TestView.get("/").header("Origin", ORIGIN);
    assertThat(
            LimitedEngine.fields(
                LimitedEngine.decide(limits.limiter("ip={ip}").allowOrigins(ORIGIN).build(), view)))
        .containsOnlyKeys("RateLimit", "RateLimit-Policy", "Access-Control-Expose-Headers");
  }

  @ParameterizedTest
  @EnumSource(OlderFields.class)
  void oddNamesAndValues_neverReachAFieldAsTheyAre(OlderFields older) {
    RequestLimiter limiter =
        limits.limiter("odd={header:X}").olderFields(older).allowOrigins("*").build();
    TestView view =
        TestView.get("/\r\nA: b")
            .header("X", "a\r\nSet-Cookie: b")
            .header("Origin", "a\r\nSet-Cookie: b")
            .header("Accept", "text/html\r\nSet-Cookie: b")
            .login("a\nb");
    for (int i = 0; i < 2; i++) {
      Verdict verdict = LimitedEngine.decide(limiter, view);
      assertThat(verdict.passes()).isEqualTo(i == 0);
      assertPlain(LimitedEngine.fields(verdict));
    }
    Verdict refused =
        LimitedEngine.decide(
            limiter,
            TestView.get("/").header("X", "a\r\nSet-Cookie: b").header("Accept", "text/html"));
    assertThat(body(refused)).contains("b=&lt;c&gt;&amp;\u00e9").doesNotContain("<c>");
  }

  static void assertPlain(Map<String, List<String>> fields) {
    fields.forEach(
        (name, lines) -> {
          assertThat(name).matches("[A-Za-z-]+");
          lines.forEach(line -> assertThat(line).as(name).matches("[ -~]+"));
        });
  }

  @Test
  void problemDocument_isTheChecksOwn() {
    RequestLimiter limiter = limits.limiter("never={ip}").build();
    Verdict verdict = LimitedEngine.decide(limiter, TestView.get("/"));
    Request request = Objects.requireNonNull(verdict.request());
    Answer answer = Objects.requireNonNull(verdict.answer());
    Refusal refusal = verdict.refusal();
    assertThat(refusal.bytes()).isEqualTo(new CheckAnswer(request, answer).json());
    assertThat(refusal.length()).isEqualTo(refusal.bytes().length);
    assertThat(refusal.contentType()).isEqualTo("application/problem+json");
  }

  @Test
  void accept_choosesTextOrAPage() {
    RequestLimiter limiter = limits.limiter("never={ip}").build();
    Verdict text = LimitedEngine.decide(limiter, TestView.get("/").header("Accept", "text/plain"));
    assertThat(text.refusal().contentType()).isEqualTo("text/plain; charset=utf-8");
    assertThat(body(text))
        .isEqualTo(
            "Policy app.never allows 0 requests per 60 s. A request of 1 permit never fits.\n");
    Verdict page = LimitedEngine.decide(limiter, TestView.get("/").header("Accept", "text/html"));
    assertThat(page.refusal().contentType()).isEqualTo("text/html; charset=utf-8");
    assertThat(body(page))
        .contains("<h1>429 Too many requests</h1>", "<p>Policy app.never allows 0");
  }

  @Test
  void head_hasTheFieldsAndTheBodyOfGet() {
    RequestLimiter limiter = limits.limiter("never={ip}").build();
    Verdict head = LimitedEngine.decide(limiter, TestView.of("HEAD", "/"));
    Verdict get = LimitedEngine.decide(limiter, TestView.get("/"));
    assertThat(LimitedEngine.fields(head)).isEqualTo(LimitedEngine.fields(get));
    assertThat(head.refusal().bytes()).isEqualTo(get.refusal().bytes());
  }
}
