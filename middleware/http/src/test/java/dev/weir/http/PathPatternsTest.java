package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathPatternsTest {
  private final LimitedEngine limits = new LimitedEngine();

  private boolean exempt(String pattern, String path) {
    RequestLimiter limiter = limits.limiter("ip={ip}").exempt(pattern).build();
    return !LimitedEngine.counted(limiter, TestView.get(path));
  }

  private boolean limited(String pattern, String path) {
    RequestLimiter limiter = limits.limiter("ip={ip}").paths(pattern).build();
    return LimitedEngine.counted(limiter, TestView.get(path));
  }

  @ParameterizedTest
  @CsvSource({
    "/, /",
    "/login, /login",
    "/login/, /login/",
    "/users/*, /users/5",
    "/users/*/orders, /users/5/orders",
    "/static/**, /static",
    "/static/**, /static/",
    "/static/**, /static/a/b.css",
    "/static/**, /static/a//b.css",
    "/**, /",
    "/**, /a/b",
    "/*/b, /a/b",
  })
  void samePath_matches(String pattern, String path) {
    assertThat(PathPatterns.of(List.of(pattern)).matches(path)).isTrue();
    assertThat(exempt(pattern, path)).isTrue();
    assertThat(limited(pattern, path)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "/, /a",
    "/login, /logins",
    "/login, /Login",
    "/login, /login/a",
    "/login, /log",
    "/users/*, /users",
    "/users/*, /users/",
    "/users/*, /users/5/orders",
    "/users/*/orders, /users/orders",
    "/static/**, /statics",
    "/static/**, /",
  })
  void otherPath_matchesNot(String pattern, String path) {
    assertThat(PathPatterns.of(List.of(pattern)).matches(path)).isFalse();
    assertThat(exempt(pattern, path)).isFalse();
    assertThat(limited(pattern, path)).isFalse();
  }

  /**
   * Servers and frameworks differ in their treatment of these paths: the limit must hold in all.
   */
  @ParameterizedTest
  @CsvSource({
    "/login, /login/",
    "/login, //login",
    "/login, /login//",
    "/login, /./login",
    "/login, /a/../login",
    "/login, /%6cogin",
    "/login, /login;a=b",
    "/login, \\login",
    "/login, /a/%2e%2e/login",
    "/login, /a/%2E./login",
    "/login, /a/..;x/login",
    "/login, login",
    "/users/*, /users//5",
    "/users/*, /users/5/",
    "/login/, /login",
    "/**, ''",
    "/**, *",
    "/, ''",
  })
  void pathWrittenOtherwise_isLimitedAndNotExempt(String pattern, String path) {
    assertThat(limited(pattern, path)).as("limited").isTrue();
    if (!pattern.equals("/**") && !pattern.equals("/")) {
      assertThat(exempt(pattern, path)).as("exempt").isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/static/../login",
        "/static/a/../../login",
        "/static/..",
        "/static/..;/login",
        "/static/%2e%2e/login",
        "/static/.%2E/login",
        "/static/..\\login",
        "/static\\..\\login",
        "/static/..%2flogin",
        "/static/%252e%252e/login",
        "/static/a/\u0000",
      })
  void pathThatLeadsOut_isNotExempt(String path) {
    assertThat(exempt("/static/**", path)).isFalse();
    assertThat(exempt("/**", path)).isFalse();
  }

  @Test
  void segmentOfDots_isNoSegment() {
    assertThat(exempt("/users/*", "/users/.")).isFalse();
    assertThat(exempt("/users/*", "/users/..")).isFalse();
    assertThat(exempt("/users/*/orders", "/users/../orders")).isFalse();
    assertThat(exempt("/static/**", "/static/a.b/c..js")).as("no step up").isTrue();
  }

  @Test
  void percentInAName_isNoOtherPath() {
    assertThat(limited("/login", "/files/a%2Fb")).isFalse();
    assertThat(limited("/login", "/discount/100%")).isFalse();
    assertThat(limited("/login", "/discount/%zz")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "login",
        "**",
        "/a*",
        "/*a/b",
        "/***",
        "/**/a",
        "/a//b",
        "//",
        "/./a",
        "/a/..",
        "/users/{id}",
        "/a?",
        "/a b\n",
        "/a#b",
        "/a;b",
        "/%61",
        "/a\\b",
      })
  void patternThatNoPathIs_isRefused(String pattern) {
    assertThatThrownBy(() -> PathPatterns.of(List.of(pattern)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("path: \"")
        .hasMessageContaining("(expected: ")
        .hasMessageNotContaining("\n");
  }

  @Test
  void exemptPath_winsOverPaths() {
    RequestLimiter limiter =
        limits.limiter("ip={ip}").paths("/api/**").exempt("/api/health").build();
    assertThat(LimitedEngine.counted(limiter, TestView.get("/api/a"))).isTrue();
    assertThat(LimitedEngine.counted(limiter, TestView.get("/api/health"))).isFalse();
    assertThat(LimitedEngine.counted(limiter, TestView.get("/other"))).isFalse();
  }

  @Test
  void none_matchesNothing() {
    assertThat(PathPatterns.NONE.isEmpty()).isTrue();
    assertThat(PathPatterns.NONE.matches("/")).isFalse();
  }
}
