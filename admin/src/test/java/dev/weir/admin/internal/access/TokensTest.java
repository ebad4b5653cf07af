package dev.weir.admin.internal.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.admin.AdminApi;
import dev.weir.admin.AdminCaller;
import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.FailingStore;
import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.config.Entry;
import dev.weir.config.EntryWrite;
import dev.weir.internal.Sha256;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TokensTest {
  private final AdminFixture admin = new AdminFixture();

  private int status(String token) {
    return admin.send("GET", "/rules").by(token).now().status();
  }

  private Answer create(String name, String role, String ttl) {
    return admin
        .send("POST", "/tokens")
        .by(admin.operator)
        .json("{'name':'%s','role':'%s','ttl':'%s','reason':'for ci'}".formatted(name, role, ttl))
        .now();
  }

  @Test
  void newToken_isShownOnceAndGoodAtOnce() {
    Answer created = create("ci", "viewer", "1h").is(201);
    String text = created.text("token");
    assertThat(text).matches("weir_[a-z0-9]{8}_[A-Za-z0-9_-]{43}");
    assertThat(status(text)).isEqualTo(200);
    Answer list = admin.send("GET", "/tokens").by(admin.operator).now().is(200);
    assertThat(list.body()).contains("\"ci\"").doesNotContain(text.substring(14), "hash");
  }

  @Test
  void secret_isNeitherStoredNorInTheLog() {
    String text = create("ci", "viewer", "1h").text("token");
    String secret = Token.secretOf(text);
    List<Entry> entries = admin.store.entries(Token.KIND);
    assertThat(entries).hasSize(4).noneMatch(entry -> entry.json().contains(secret));
    assertThat(entries).anyMatch(entry -> entry.json().contains(Sha256.hex(secret)));
    assertThat(admin.changes(Token.KIND))
        .hasSize(4)
        .noneMatch(change -> change.json().contains(secret))
        .noneMatch(change -> change.json().contains("hash\":"));
    assertThat(admin.changes(Token.KIND).get(3).details().cause().author())
        .matches("operator \\([a-z0-9]{8}\\)");
  }

  private AdminCaller caller(AdminApi api, String field, String value) {
    return api.caller(
        new AdminRequest(
            "GET",
            "/admin/v1/rules",
            "",
            Map.of("host", List.of("localhost"), field, List.of(value)),
            InputStream.nullInputStream(),
            "192.0.2.1",
            false));
  }

  @Test
  void caller_isKnownByTheTokensReadLast() {
    AdminApi api =
        AdminApi.builder(admin.store, admin.engine).tickers(admin.ticker, admin.ticker).build();
    Answer created = create("ci", "viewer", "1h");
    String text = created.text("token");
    AdminCaller unknown = new AdminCaller("address 192.0.2.1", null);
    assertThat(caller(api, "authorization", "Bearer " + text)).isEqualTo(unknown);
    assertThat(api.authenticator().valid(created.text("id"))).isNotNull(); // It reads the tokens.
    assertThat(caller(api, "authorization", "Bearer " + text))
        .isEqualTo(new AdminCaller("token " + created.text("id"), Role.VIEWER));
    assertThat(caller(api, "authorization", "Bearer " + admin.operator).isOperator()).isTrue();
    String other = text.substring(0, text.length() - 1) + (text.endsWith("A") ? "B" : "A");
    assertThat(caller(api, "authorization", "Bearer " + other)).isEqualTo(unknown);
    assertThat(caller(api, "authorization", "Weir-Fleet 1.2")).isEqualTo(unknown);
    assertThat(caller(api, "cookie", "weir=x")).isEqualTo(unknown);
    admin.advance(Duration.ofHours(1));
    assertThat(caller(api, "authorization", "Bearer " + text)).isEqualTo(unknown);
  }

  @Test
  void expiredToken_isRefused() {
    String text = create("ci", "viewer", "1h").text("token");
    admin.advance(Duration.ofMinutes(59));
    assertThat(status(text)).isEqualTo(200);
    admin.advance(Duration.ofMinutes(1));
    Answer refused = admin.send("GET", "/rules").by(text).now().is(401);
    assertThat(refused.field("WWW-Authenticate")).startsWith("Bearer");
    assertThat(refused.detail()).contains("expired");
  }

  @Test
  void revokedToken_isRefusedAtOnceHereAndSoonElsewhere() {
    Answer created = create("ci", "viewer", "1h");
    String text = created.text("token");
    AdminApi other =
        AdminApi.builder(admin.store, admin.engine).tickers(admin.ticker, admin.ticker).build();
    assertThat(other.authenticator().valid(created.text("id"))).isNotNull();
    String path = "/tokens/" + created.text("id") + "?reason=gone+home";
    admin.send("DELETE", path).by(admin.operator).now().is(204);
    assertThat(status(text)).isEqualTo(401);
    admin.send("DELETE", path).by(admin.operator).now().is(404);
    admin.advance(Duration.ofSeconds(1));
    assertThat(other.authenticator().valid(created.text("id"))).isNull();
  }

  @Test
  void tokenMadeElsewhere_isGoodAfterASecond() {
    assertThat(status(admin.viewer)).isEqualTo(200);
    String text = admin.token(Role.VIEWER);
    assertThat(status(text)).isEqualTo(401);
    admin.advance(Duration.ofSeconds(1));
    assertThat(status(text)).isEqualTo(200);
  }

  @Test
  void storeThatIsAway_opensNothingAfterTheStatedTime() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture away =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store),
            builder -> builder,
            new dev.weir.MemoryStore());
    assertThat(away.send("GET", "/session").by(away.viewer).now().status()).isEqualTo(200);
    failing[0].away = true;
    away.advance(Duration.ofMillis(2_900));
    away.send("GET", "/session").by(away.viewer).now().is(200);
    away.advance(Duration.ofMillis(100));
    Answer refused = away.send("GET", "/session").by(away.viewer).now().is(503);
    assertThat(refused.field("Retry-After")).isEqualTo("1");
    failing[0].away = false;
    away.send("GET", "/session").by(away.viewer).now().is(200);
  }

  @Test
  void unknownAndMalformedTokens_areRefused() {
    String other = admin.viewer.substring(0, 14) + "A".repeat(43);
    for (String text :
        List.of(other, "", "weir_", "x".repeat(57), "weir_aaaaaaaa_" + "b".repeat(43))) {
      admin.advance(Duration.ofMinutes(5));
      admin.send("GET", "/rules").by(text).now().is(401);
    }
    admin.send("GET", "/rules").now().is(401);
    admin.send("GET", "/rules").field("Authorization", "Basic eDp5").now().is(401);
  }

  @Test
  void valuesOutOfRange_areRefused() {
    create("", "viewer", "1h").is(422);
    create("x".repeat(101), "viewer", "1h").is(422);
    create("a", "root", "1h").is(422);
    create("a", "viewer", "1s").is(422);
    create("a", "viewer", "367d").is(422);
    create("a", "viewer", "long").is(422);
    admin
        .send("POST", "/tokens")
        .by(admin.operator)
        .json("{'name':'a','role':'viewer'}")
        .now()
        .is(400);
    admin
        .send("POST", "/tokens")
        .by(admin.operator)
        .json("{'name':'a','role':'viewer','reason':'x'}")
        .now()
        .is(422);
    assertThat(admin.store.entries(Token.KIND)).hasSize(3);
  }

  @Test
  void tooManyTokens_areRefused() {
    for (int i = 3; i < Tokens.MAX_TOKENS; i++) {
      admin.store.write(EntryWrite.put(Token.KIND, "t" + i, "{}", 0), AdminFixture.CAUSE);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> admin.token(Role.VIEWER))
        .withMessage("tokens: 1000 already (expected: fewer; revoke some)");
  }
}
