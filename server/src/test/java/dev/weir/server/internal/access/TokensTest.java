package dev.weir.server.internal.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.server.LogCapture;
import dev.weir.server.RunningServer;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.settings.SettingsException;
import dev.weir.server.settings.StartException;
import dev.weir.wire.testkit.RespClient;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokensTest {
  private static final String ONE = "first-token-0123456789";
  private static final String OTHER = "other-token-0123456789";
  private static final String CHECK = "{\"domain\":\"test\",\"descriptor\":{\"free\":\"x\"}}";

  @TempDir private Path folder;

  private static boolean accepts(Tokens tokens, String token) {
    byte[] bytes = ("<" + token + ">").getBytes(StandardCharsets.UTF_8);
    return tokens.accepts(bytes, 1, bytes.length - 1);
  }

  @Test
  void tokens_areLinesOfAFile() {
    Tokens tokens = Tokens.of(List.of("# for the gateway", "", "  " + ONE + "  ", OTHER));
    assertThat(accepts(tokens, ONE)).isTrue();
    assertThat(accepts(tokens, OTHER)).isTrue();
    assertThat(accepts(tokens, ONE + "x")).isFalse();
    assertThat(accepts(tokens, "")).isFalse();
    assertThat(tokens.acceptsBearer("bearer " + ONE)).isTrue();
    assertThat(tokens.acceptsBearer("Basic " + ONE)).isFalse();
    assertThat(tokens.acceptsBearer(ONE)).isFalse();
    assertThatThrownBy(() -> tokens.replace(List.of("# none")))
        .hasMessage("no token (expected: one per line)");
    assertThatThrownBy(() -> tokens.replace(List.of(OTHER, "short")))
        .hasMessage("line 2: a short token (expected: at least 16 characters)");
    assertThat(accepts(tokens, ONE)).isTrue();
    assertThat(Tokens.notRequired().required()).isFalse();
  }

  @Test
  void everyDoor_asksForAToken_andEverybodyMayAskForHealth() throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), ONE + "\n");
    try (RunningServer running = RunningServer.start(folder, "token-file", file.toString())) {
      assertThat(running.get("/healthcheck").statusCode()).isEqualTo(200);
      assertThat(running.get("/metrics").statusCode()).isEqualTo(401);
      assertThat(running.post("/v1/check", CHECK).statusCode()).isEqualTo(401);
      var refused = running.post("/v1/check", CHECK, "Authorization", "Bearer " + OTHER);
      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
      assertThat(refused.body()).contains("Authorization: missing or wrong (expected: Bearer");
      assertThat(running.post("/v1/check", CHECK, "Authorization", "Bearer " + ONE).statusCode())
          .isEqualTo(200);
      try (RespClient resp = new RespClient(running.server.respPort())) {
        for (String command :
            new String[] {"PING", "CL.THROTTLE a 1 1 1", "WEIR.CHECK test 1 user a", "DEL a"}) {
          assertThat(resp.exchange(command.split(" ", -1))).startsWith("-NOAUTH ");
        }
        assertThat(resp.exchange("HELLO", "3")).startsWith("-NOAUTH ");
        assertThat(resp.exchange("AUTH", OTHER)).startsWith("-WRONGPASS ");
        assertThat(resp.exchange("HELLO", "3", "AUTH", "default", ONE)).startsWith("%7|");
        assertThat(resp.exchange("PING")).isEqualTo("+PONG|");
        assertThat(resp.exchange("RESET")).isEqualTo("+RESET|");
        assertThat(resp.exchange("PING")).startsWith("-NOAUTH ");
        assertThat(resp.exchange("AUTH", "anybody", ONE)).isEqualTo("+OK|");
        assertThat(resp.throttle("CL.THROTTLE", "a", "1", "1", "1")).startsWith(0L, 2L);
      }
      grpcAsksForAToken(running);
      RespClient open = new RespClient(running.server.respPort());
      assertThat(open.exchange("AUTH", ONE)).isEqualTo("+OK|");
      try (LogCapture log = new LogCapture()) {
        Files.writeString(file, "short\n");
        log.await("the old content stays in force: line 1: a short token");
        Files.writeString(file, OTHER + "\n");
        assertThat(open.exchange("PING")).isEqualTo("+PONG|");
        log.await("--token-file: changed, in force");
      }
      assertThat(open.exchange("PING")).startsWith("-NOAUTH ");
      assertThat(open.exchange("AUTH", OTHER)).isEqualTo("+OK|");
      open.close();
      assertThat(running.post("/v1/check", CHECK, "Authorization", "Bearer " + ONE).statusCode())
          .isEqualTo(401);
      assertThat(running.post("/v1/check", CHECK, "Authorization", "Bearer " + OTHER).statusCode())
          .isEqualTo(200);
    }
  }

  private static void grpcAsksForAToken(RunningServer running) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
    try {
      assertThat(
              HealthGrpc.newBlockingStub(channel)
                  .check(HealthCheckRequest.getDefaultInstance())
                  .getStatus())
          .isEqualTo(ServingStatus.SERVING);
      RateLimitServiceGrpc.RateLimitServiceBlockingStub stub =
          RateLimitServiceGrpc.newBlockingStub(channel);
      RateLimitRequest request =
          RateLimitRequest.newBuilder()
              .setDomain("test")
              .addDescriptors(
                  RateLimitDescriptor.newBuilder()
                      .addEntries(
                          RateLimitDescriptor.Entry.newBuilder().setKey("free").setValue("x")))
              .build();
      assertThatThrownBy(() -> stub.shouldRateLimit(request))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED));
      Metadata metadata = new Metadata();
      metadata.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + ONE);
      assertThat(
              stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                  .shouldRateLimit(request)
                  .getOverallCode())
          .isEqualTo(RateLimitResponse.Code.OK);
    } finally {
      channel.shutdownNow();
    }
  }

  /**
   * Like rsync, tar and images with a fixed date: another content, with the time of the last one.
   */
  @Test
  void contentWithTheTimeOfTheOneBefore_isTakenIn() throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), ONE + "\n");
    FileTime time = FileTime.fromMillis(1_000);
    Files.setLastModifiedTime(file, time);
    TokenFile tokens = tokenFile(file);
    tokens.refresh();
    Path next = Files.writeString(folder.resolve("next"), OTHER + "\n");
    Files.setLastModifiedTime(next, time);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    tokens.refresh();
    tokens.refresh();
    assertThat(accepts(tokens, ONE)).isFalse();
    assertThat(accepts(tokens, OTHER)).isTrue();
  }

  @Test
  void fileThatIsBeingWritten_isLeftAlone() throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), ONE + "\n");
    TokenFile tokens = tokenFile(file);
    for (int length = 17; length < OTHER.length(); length++) {
      Files.writeString(file, OTHER.substring(0, length));
      tokens.refresh();
      assertThat(accepts(tokens, ONE)).isTrue();
    }
    Files.writeString(file, OTHER + "\n");
    tokens.refresh();
    tokens.refresh();
    assertThat(accepts(tokens, OTHER)).isTrue();
    assertThat(accepts(tokens, OTHER.substring(0, OTHER.length() - 1))).isFalse();
  }

  @Test
  void fileThatCannotBeRead_isSaidOnceAndTriedAgain() throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), ONE + "\n");
    TokenFile tokens = tokenFile(file);
    Files.delete(file);
    try (LogCapture log = new LogCapture()) {
      for (int i = 0; i < 3; i++) {
        tokens.refresh();
      }
      assertThat(log.await("--token-file: cannot be used, the old content stays in force"))
          .endsWith("tokens: not there");
      Files.write(file, new byte[] {(byte) 0xff, 'x'});
      for (int i = 0; i < 3; i++) {
        tokens.refresh();
      }
      assertThat(log.next()).endsWith("not text (expected: UTF-8)");
      assertThat(accepts(tokens, ONE)).isTrue();
      Files.writeString(file, OTHER + "\n");
      for (int i = 0; i < 3; i++) {
        tokens.refresh();
      }
      assertThat(log.next()).isEqualTo("--token-file: changed, in force");
    }
    assertThat(accepts(tokens, ONE)).isFalse();
    assertThat(accepts(tokens, OTHER)).isTrue();
  }

  private static TokenFile tokenFile(Path file) throws StartException {
    return TokenFile.of(ServerSettings.of(Map.of("token-file", file.toString())));
  }

  private static boolean accepts(TokenFile tokens, String token) {
    byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
    return tokens.tokens().accepts(bytes, 0, bytes.length);
  }

  @Test
  void listeningToOthers_needsTokensOrCertificatesOrConsent() throws Exception {
    assertThatThrownBy(() -> ServerSettings.of(Map.of("host", "0.0.0.0")))
        .isInstanceOf(SettingsException.class)
        .hasMessage(
            "--host: 0.0.0.0 can be reached from other machines"
                + " (expected: --token-file, --tls-client-ca or --insecure)");
    Path file = Files.writeString(folder.resolve("tokens"), ONE + "\n");
    assertThat(
            ServerSettings.of(Map.of("host", "0.0.0.0", "token-file", file.toString())).warnings())
        .isEmpty();
    assertThat(ServerSettings.of(Map.of("host", "0.0.0.0", "insecure", "true")).warnings())
        .containsExactly(
            "--insecure: anyone who reaches 0.0.0.0 can ask for permits and use up those"
                + " of others");
    assertThat(ServerSettings.of(Map.of("host", "localhost")).warnings()).isEmpty();
    String pem = file.toString();
    assertThatThrownBy(
            () ->
                ServerSettings.of(
                    Map.of(
                        "host",
                        "0.0.0.0",
                        "tls-cert",
                        pem,
                        "tls-key",
                        pem,
                        "tls-client-ca",
                        pem,
                        "grpc-tls-cert",
                        pem,
                        "grpc-tls-key",
                        pem)))
        .hasMessageContaining("can be reached from other machines");
  }

  @Test
  void tokenFileThatIsNone_isNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("tokens"), "# nothing\n");
    assertThatThrownBy(() -> RunningServer.start(folder, "token-file", file.toString()))
        .isInstanceOf(StartException.class)
        .hasMessage("--token-file: " + file + ": no token (expected: one per line)");
  }
}
