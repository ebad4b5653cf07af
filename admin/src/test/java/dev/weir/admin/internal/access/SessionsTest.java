package dev.weir.admin.internal.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.Tokens;
import dev.weir.internal.Sha256;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionsTest {
  private final AdminFixture admin = new AdminFixture();

  private static String cookie(Answer login) {
    return login.field("Set-Cookie").split(";", 2)[0];
  }

  private String login(String token) {
    return cookie(admin.send("POST", "/session").json("{'token':'" + token + "'}").now().is(204));
  }

  private int status(String cookie) {
    return admin.send("GET", "/session").cookie(cookie).now().status();
  }

  @Test
  void login_givesACookieThatOpensAsItsToken() {
    String cookie = login(admin.editor);
    Answer who = admin.send("GET", "/session").cookie("a=b; " + cookie + "; c=d").now().is(200);
    assertThat(who.text("role")).isEqualTo("editor");
    assertThat(who.body()).contains("\"session\":true");
    admin.send("GET", "/tokens").cookie(cookie).now().is(403);
    admin.send("GET", "/session").cookie(cookie + "x").now().is(401);
  }

  @Test
  void cookie_isForTlsUnlessTheHostIsLoopback() {
    String json = "{'token':'" + admin.viewer + "'}";
    assertThat(admin.send("POST", "/session").json(json).now().field("Set-Cookie"))
        .matches("weir=[^;]{43}; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200");
    Answer secure = admin.send("POST", "/session").secure().json(json).now();
    assertThat(secure.field("Set-Cookie"))
        .matches("__Host-weir=[^;]{43}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=43200");
    admin.send("GET", "/session").secure().cookie(cookie(secure)).now().is(200);
    admin.send("GET", "/session").cookie(cookie(secure)).now().is(401);
  }

  @Test
  void session_endsAfterTwelveHoursOrHalfAnHourWithoutUse() {
    String cookie = login(admin.viewer);
    for (int i = 0; i < 24; i++) {
      assertThat(status(cookie)).as("%d", i).isEqualTo(200);
      admin.advance(Duration.ofMinutes(30).minusNanos(1));
    }
    assertThat(status(cookie)).isEqualTo(200);
    admin.advance(Duration.ofNanos(24));
    assertThat(status(cookie)).isEqualTo(401);
    String idle = login(admin.viewer);
    admin.advance(Duration.ofMinutes(30));
    assertThat(status(idle)).isEqualTo(401);
  }

  @Test
  void session_endsWithItsToken() {
    String cookie = login(admin.viewer);
    String id = Token.idOf(admin.viewer);
    admin.send("DELETE", "/tokens/" + id + "?reason=gone").by(admin.operator).now().is(204);
    assertThat(status(cookie)).isEqualTo(401);
    String expiring = login(admin.editor);
    for (int i = 0; i < 24; i++) {
      admin.advance(Duration.ofMinutes(20));
      assertThat(status(expiring)).isEqualTo(200);
    }
    admin.ticker.advance(Tokens.DEFAULT_TTL);
    assertThat(status(expiring)).isEqualTo(401);
  }

  @Test
  void logout_endsTheSession() {
    String cookie = login(admin.viewer);
    Answer out = admin.send("DELETE", "/session").cookie(cookie).sameOrigin().now().is(204);
    assertThat(out.field("Set-Cookie")).startsWith("weir=;").endsWith("Max-Age=0");
    assertThat(status(cookie)).isEqualTo(401);
  }

  @Test
  void code_isGoodOnceAndForAMinute() {
    String code = link().text("code");
    String json = "{'code':'" + code + "'}";
    String cookie = cookie(admin.send("POST", "/session").json(json).now().is(204));
    assertThat(status(cookie)).isEqualTo(200);
    admin.send("POST", "/session").json(json).now().is(401);
    String late = link().text("code");
    admin.advance(Duration.ofSeconds(60));
    admin.send("POST", "/session").json("{'code':'" + late + "'}").now().is(401);
    admin.send("POST", "/session").json("{}").now().is(400);
  }

  private Answer link() {
    return admin.send("POST", "/session/links").by(admin.viewer).now().is(201);
  }

  @Test
  void codeOfARevokedToken_opensNothing() {
    String code = link().text("code");
    String id = Token.idOf(admin.viewer);
    admin.send("DELETE", "/tokens/" + id + "?reason=gone").by(admin.operator).now().is(204);
    admin.send("POST", "/session").json("{'code':'" + code + "'}").now().is(401);
  }

  @Test
  void otherSites_changeNothing() {
    String cookie = login(admin.editor);
    for (String site : List.of("cross-site", "same-site", "none", "x")) {
      delete(cookie).field("Sec-Fetch-Site", site).now().is(403);
    }
    delete(cookie).now().is(403);
    delete(cookie).field("Origin", "http://evil.example").now().is(403);
    delete(cookie).field("Origin", "null").now().is(403);
    delete(cookie).field("Origin", "http://localhost:80").now().is(403);
    delete(cookie).by(admin.editor).field("Origin", "http://evil.example").now().is(403);
    delete(cookie).field("Origin", "http://localhost:8090").now().is(412);
    delete(cookie).sameOrigin().now().is(412);
    admin
        .send("POST", "/session")
        .field("Sec-Fetch-Site", "cross-site")
        .json("{'token':'" + admin.viewer + "'}")
        .now()
        .is(403);
    admin
        .send("DELETE", "/limits/shop/user/a?reason=test")
        .by(admin.editor)
        .field("If-Match", "\"1\"")
        .field("Origin", "http://evil.example")
        .now()
        .is(412);
  }

  private AdminFixture.Sending delete(String cookie) {
    return admin
        .send("DELETE", "/limits/shop/user/a?reason=test")
        .cookie(cookie)
        .field("If-Match", "\"1\"");
  }

  @Test
  void changesBySession_areTheDashboards() {
    String cookie = login(admin.editor);
    admin
        .send("PUT", "/limits/shop/user/a")
        .cookie(cookie)
        .sameOrigin()
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(201);
    assertThat(admin.changes("record").get(0).details().cause().via()).isEqualTo("dashboard");
  }

  @Test
  void tooManySessions_endTheOldest() {
    Sessions sessions = new Sessions(admin.ticker);
    String first = sessions.begin("0");
    for (int i = 1; i <= Sessions.MAX; i++) {
      String unused = sessions.begin(Integer.toString(i));
    }
    assertThat(sessions.size()).isEqualTo(Sessions.MAX);
    assertThat(sessions.use(Sha256.hex(first))).isNull();
    Sessions own = new Sessions(admin.ticker);
    String kept = own.begin("other");
    for (int i = 0; i <= Sessions.MAX_OF_TOKEN; i++) {
      String unused = own.begin("own");
    }
    assertThat(own.size()).isEqualTo(Sessions.MAX_OF_TOKEN + 1);
    assertThat(own.use(Sha256.hex(kept))).isEqualTo("other");
  }
}
