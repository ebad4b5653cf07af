package dev.weir.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.PercentText;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of requests that are refused before they reach a resource. */
class GuardsTest {
  private final AdminFixture admin =
      new AdminFixture(
          store -> store,
          builder -> builder.hosts(List.of("Admin.Example.com", "10.0.0.7:8090")),
          new MemoryStore());

  private int host(String host) {
    return admin.send("GET", "/rules").field("Host", host).by(admin.viewer).now().status();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LOCALHOST:8090",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]:8090",
        "admin.example.com",
        "admin.example.com:443",
        "10.0.0.7"
      })
  void knownHost_isAnswered(String host) {
    assertThat(host(host)).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "admin.example.com.evil",
        "localhost:80:90",
        "localhost:x",
        "[::1",
        "[::1].evil",
        "[::2]"
      })
  void foreignHost_isMisdirected(String host) {
    assertThat(host(host)).isEqualTo(421);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/limits/shop/user/%",
        "/limits/shop/user/%4",
        "/limits/shop/user/%zz",
        "/limits/shop/user/%+1",
        "/limits/shop/user/%ff",
        "/limits/shop/user/%c0%af",
        "/limits/shop/user/a b",
        "/limits/sh%00op/user/a"
      })
  void badEscapes_areBadRequests(String path) {
    admin.get(path).is(400);
  }

  @Test
  void escapedSlashAndDots_arePartsOfTheValue() {
    String path = "/limits/shop/user/..%2F..%252F%C3%A4";
    admin
        .send("PUT", path)
        .by(admin.editor)
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(201);
    assertThat(admin.get(path).is(200).text("value")).isEqualTo("../..%2Fä");
    admin.get("/limits/shop/user/../..%2F").is(404);
    admin.get("/limits/../rules").is(404);
    admin.get("/limits/shop/user/..").is(404);
    admin.get("/../v1/rules").is(404);
  }

  @Test
  void emptyValue_isAValue() {
    admin
        .send("PUT", "/limits/shop/user/")
        .by(admin.editor)
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(201);
    assertThat(admin.get("/limits/shop/user/").is(200).text("value")).isEmpty();
  }

  @Test
  void unknownPathsAndMethods_areRefused() {
    admin.get("/nothing").is(404);
    admin.get("/rules/").is(404);
    Answer answer = admin.send("PUT", "/rules").by(admin.operator).now().is(405);
    assertThat(answer.field("Allow")).isEqualTo("GET, PATCH");
    admin.get("/rules?revision=1").is(400);
    admin.get("/audit?limit=1&limit=2").is(400);
    admin.get("/audit?limit=-1").is(400);
    admin.get("/audit?limit=99999999999999999999").is(400);
    admin.get("/audit?limit=%zz").is(400);
  }

  private Answer check(String type, byte[] body) {
    return admin
        .send("POST", "/rules/check")
        .by(admin.viewer)
        .field("Content-Type", type)
        .bytes(body)
        .now();
  }

  @Test
  void otherTypesThanJson_areRefused() {
    byte[] body = "{\"files\":{}}".getBytes(UTF_8);
    check("application/json", body).is(200);
    check("Application/JSON; charset=utf-8", body).is(200);
    check("application/x-www-form-urlencoded", body).is(415);
    check("text/plain", body).is(415);
    check("multipart/form-data", body).is(415);
    admin.send("POST", "/rules/check").by(admin.viewer).bytes(body).now().is(415);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{\"files\":{}}{}",
        "{\"files\":{},\"files\":{}}",
        "{\"files\":{\"a.yaml\":1}}",
        "{\"files\":null}",
        "{\"base\":1e400,\"files\":{}}",
        "{\"base\":123456789012345678901234567890,\"files\":{}}",
        "{\"files\":{\"\\ud800.yaml\":\"\"}}",
        "{\"other\":1}",
        "\ufeff{\"files\":{}}"
      })
  void badJson_isABadRequest(String body) {
    check("application/json", body.getBytes(UTF_8)).is(400);
  }

  @Test
  void badBytesAndDepth_areBadRequests() {
    check("application/json", new byte[] {'{', '"', (byte) 0xff, '"', ':', '1', '}'}).is(400);
    check("application/json", "{\"files\":{}}".getBytes(java.nio.charset.StandardCharsets.UTF_16))
        .is(400);
    check("application/json", ("{\"files\":" + "[".repeat(500_000)).getBytes(UTF_8)).is(400);
  }

  @Test
  void tooLargeBody_isRefused() {
    explain(new byte[Call.MAX_BODY_BYTES]).is(400);
    explain(new byte[Call.MAX_BODY_BYTES + 1]).is(413);
    check("application/json", new byte[Call.MAX_BODY_BYTES + 1]).is(400); // A body of rule files.
    check("application/json", new byte[AdminHandler.MAX_BODY_BYTES + 1]).is(413);
  }

  private Answer explain(byte[] body) {
    return admin
        .send("POST", "/explain")
        .by(admin.viewer)
        .field("Content-Type", "application/json")
        .bytes(body)
        .now();
  }

  @Test
  void markup_isEscaped() {
    String script = "<script>alert(1)</script>";
    String path = "/limits/" + PercentText.encode(script) + "/user/" + PercentText.encode(script);
    Answer put =
        admin
            .send("PUT", path)
            .by(admin.editor)
            .field("If-None-Match", "*")
            .json("{'plan':'" + script + "','note':'" + script + "','reason':'" + script + "'}")
            .now()
            .is(201);
    assertThat(put.body()).doesNotContain("<").contains("\\u003Cscript\\u003E");
    assertThat(put.text("plan")).isEqualTo(script);
    for (String each : List.of("/audit", path, "/limits?domain=%3Cscript%3E&key=x")) {
      Answer answer = admin.get(each).is(200);
      assertThat(answer.body()).doesNotContain("<");
      assertThat(answer.field("Content-Type")).isEqualTo("application/json");
    }
    assertThat(admin.get("/audit?kind=" + PercentText.encode(script)).is(200).body())
        .doesNotContain("<");
    assertThat(admin.get("/rules/files/" + PercentText.encode(script)).is(404).body())
        .doesNotContain("<");
  }

  @Test
  void failedLogins_areLimitedByAddress() {
    for (int i = 0; i < 5; i++) {
      login("192.0.2.9").is(401);
    }
    Answer refused = login("192.0.2.9").is(429);
    assertThat(Long.parseLong(refused.field("Retry-After"))).isBetween(1L, 60L);
    login("192.0.2.10").is(401);
    admin.send("GET", "/rules").from("192.0.2.9").by(admin.viewer).now().is(200);
    admin.advance(Duration.ofSeconds(61));
    login("192.0.2.9").is(401);
    assertThat(admin.changes("login")).hasSize(7);
  }

  private Answer login(String source) {
    return admin
        .send("POST", "/session")
        .from(source)
        .json("{'token':'weir_aaaaaaaa_" + "b".repeat(43) + "'}")
        .now();
  }

  @Test
  void thousandsOfLogins_takeNeitherMemoryNorDisk() {
    int unauthorized = 0;
    for (int i = 0; i < 10_000; i++) {
      admin.advance(Duration.ofMillis(1));
      unauthorized += login("2001:db8::" + Integer.toHexString(i)).status() == 401 ? 1 : 0;
    }
    assertThat(unauthorized).isEqualTo(30);
    assertThat(admin.changes("login")).hasSize(30);
    assertThat(admin.api.authenticator().sources()).isLessThanOrEqualTo(30);
  }

  @Test
  void refusedChanges_areWrittenDownUpToABound() {
    for (int i = 0; i < 100; i++) {
      admin.send("PATCH", "/rules").by(admin.viewer).json("{}").now().is(403);
    }
    assertThat(admin.changes("refused")).hasSize(5);
    assertThat(admin.changes("refused").get(0).details().after())
        .isEqualTo("{\"method\":\"PATCH\",\"path\":\"/rules\",\"status\":403}");
    admin.send("GET", "/tokens").by(admin.viewer).now().is(403);
    assertThat(admin.changes("refused")).hasSize(5);
  }

  @Test
  void requestId_isTheClientsIfItIsOne() {
    assertThat(admin.send("GET", "/").field("X-Request-Id", "abc-1").now().field("X-Request-Id"))
        .isEqualTo("abc-1");
    assertThat(admin.send("GET", "/").field("X-Request-Id", "a\nb").now().field("X-Request-Id"))
        .matches("[a-z0-9]{8}");
  }

  @Test
  void storeThatIsFullOrAway_isSaid() {
    FailingStore[] failing = new FailingStore[1];
    AdminFixture other =
        new AdminFixture(
            store -> failing[0] = new FailingStore(store), builder -> builder, new MemoryStore());
    other.get("/rules").is(200);
    failing[0].full = true;
    other
        .send("PUT", "/limits/shop/user/a")
        .by(other.editor)
        .field("If-None-Match", "*")
        .json("{'plan':'gold','reason':'a test'}")
        .now()
        .is(507);
    failing[0].away = true;
    other.get("/rules").is(503);
  }
}
