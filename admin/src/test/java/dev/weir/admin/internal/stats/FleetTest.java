package dev.weir.admin.internal.stats;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.admin.AdminFixture;
import dev.weir.admin.AdminFixture.Answer;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.internal.access.InstallationSecret;
import dev.weir.admin.internal.http.Call;
import dev.weir.config.Node;
import dev.weir.rules.Request;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of one server's answer for all: {@code scope=all}. */
class FleetTest {
  private final Map<String, AdminFixture> servers = new HashMap<>();
  private final AdminFixture first =
      new AdminFixture(store -> store, builder -> builder.peers(this::request), new MemoryStore());
  private final AdminFixture second =
      new AdminFixture(store -> first.store, builder -> builder, new MemoryStore(), "n1");
  private @Nullable String lastSignature;

  /** Returns the answer of another server's interface, without a network between. */
  private CompletableFuture<String> request(String address, String path, String authorization) {
    AdminFixture server = servers.get(address);
    if (server == null) {
      return CompletableFuture.failedFuture(new IOException("Connection refused"));
    }
    lastSignature = authorization;
    AdminResponse answer = asked(server, path, authorization);
    if (answer.status() != 200) {
      return CompletableFuture.failedFuture(new IOException("answered " + answer.status()));
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    answer.body().forEachRemaining(bytes::writeBytes);
    return CompletableFuture.completedFuture(bytes.toString(UTF_8));
  }

  private static AdminResponse asked(AdminFixture server, String path, String authorization) {
    int question = path.indexOf('?');
    return server.api.handle(
        new AdminRequest(
            "GET",
            question < 0 ? path : path.substring(0, question),
            question < 0 ? "" : path.substring(question + 1),
            Map.of("host", List.of("localhost"), "authorization", List.of(authorization)),
            new ByteArrayInputStream(new byte[0]),
            "192.0.2.8",
            false));
  }

  private void beat(String id, String admin) {
    first.store.beat(Node.builder(id).admin(admin).version("1").revision(1).position(1).build());
  }

  @BeforeEach
  void start() {
    servers.put("http://second", second);
    beat("n0", "http://first");
    beat("n1", "http://second");
  }

  private void second() {
    for (AdminFixture each : List.of(first, second)) {
      each.advance(Duration.ofSeconds(1));
      each.insight.tick();
    }
  }

  private static void refuse(AdminFixture at, String ip, int times) {
    for (int i = 0; i < 5 + times; i++) {
      var unused = at.engine.decide(Request.of("shop", "ip", ip));
    }
  }

  @Test
  void allServers_areAddedUp() {
    second();
    refuse(first, "1.2.3.4", 3);
    refuse(second, "1.2.3.4", 4);
    refuse(second, "5.6.7.8", 1);
    second();
    Answer stats = first.get("/stats?scope=all").is(200);
    assertThat(stats.body())
        .contains("\"nodes\":{\"asked\":2,\"answered\":2,\"missing\":[]}")
        .contains(",23]"); // 8 and 15 requests in that second
    Answer own = first.get("/stats").is(200);
    assertThat(own.body()).contains(",8]").doesNotContain(",23]");
    Answer top = first.get("/top?scope=all").is(200);
    assertThat(top.objects("keys"))
        .extracting(each -> Call.reading(() -> each.number("count")))
        .containsExactly(7L, 1L);
    Answer refusals = first.get("/refusals?scope=all").is(200);
    assertThat(refusals.number("came")).isEqualTo(8);
    assertThat(refusals.objects("refusals"))
        .extracting(each -> Call.reading(() -> each.text("node")))
        .contains("n0", "n1")
        .hasSize(8);
    Answer rules = first.get("/stats/rules?scope=all").is(200);
    assertThat(rules.objects("rules"))
        .extracting(each -> Call.reading(() -> each.number("asked")))
        .containsExactly(23L);
  }

  @Test
  void serversThatDoNotAnswer_areNamed() {
    beat("n2", "http://nowhere");
    beat("n3", "");
    Answer top = first.get("/top?scope=all").is(200);
    assertThat(top.body())
        .contains("\"asked\":4,\"answered\":2", "Connection refused", "its address is not known");
  }

  @Test
  void serverThatIsSilent_isNotAsked() {
    first.advance(Duration.ofSeconds(30));
    assertThat(first.get("/top?scope=all").is(200).body()).contains("\"asked\":1,\"answered\":1");
  }

  @Test
  void addressOfAnotherServer_doesNotCountTwice() {
    beat("n2", "http://second");
    assertThat(first.get("/top?scope=all").is(200).body())
        .contains("\"asked\":3,\"answered\":2", "is another server");
  }

  @Test
  void signature_isGoodForOneAddressOneMinuteAndReading() {
    Answer unused = first.get("/top?scope=all").is(200);
    String signature = String.valueOf(lastSignature);
    assertThat(signature).startsWith("Weir-Fleet ");
    String path = "/admin/v1/top?by=refused&limit=100";
    assertThat(asked(second, path, signature).status()).isEqualTo(200);
    assertThat(asked(second, path + "&rule=a", signature).status()).isEqualTo(401);
    assertThat(asked(second, "/admin/v1/tokens", signature).status()).isEqualTo(401);
    String other = signature.substring(0, signature.length() - 1) + "x";
    assertThat(asked(second, path, other).status()).isEqualTo(401);
    second.advance(Duration.ofSeconds(61));
    assertThat(asked(second, path, signature).status()).isEqualTo(401);
  }

  @Test
  void signature_mayNotDoWhatAViewerMayNot() {
    FleetSignature good = new FleetSignature(new InstallationSecret(first.store), second.ticker);
    String signature = good.sign("/admin/v1/tokens", "");
    assertThat(asked(second, "/admin/v1/tokens", signature).status()).isEqualTo(403);
  }
}
