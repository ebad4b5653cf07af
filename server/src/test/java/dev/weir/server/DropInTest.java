package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.server.internal.settings.ServerSettings;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Habits of users of envoyproxy/ratelimit that the server has to meet. */
class DropInTest {
  private static final String REQUEST =
      "{\"domain\":\"test\",\"descriptors\":[{\"entries\":[{\"key\":\"never\",\"value\":\"x\"}]}]}";

  @TempDir private Path folder;

  @Test
  void filesThatOnlyTheOriginalReads_areNamedInTheLog() throws Exception {
    Path rules = Files.createDirectories(folder.resolve("rl/config"));
    Files.writeString(rules.resolve("rules.yaml"), RunningServer.RULES);
    Files.writeString(rules.resolve("more.conf"), "domain: more\n");
    Files.writeString(rules.resolve(".hidden"), "domain: hidden\n");
    Files.createDirectory(rules.resolve("teams"));
    Map<String, String> flags =
        Map.of("port", "0", "grpc-port", "0", "resp-port", "0", "no-warmup", "true");
    Map<String, String> environment =
        Map.of("RUNTIME_ROOT", folder.toString(), "RUNTIME_SUBDIRECTORY", "rl");
    try (LogCapture log = new LogCapture();
        WeirServer server =
            WeirServer.start(new ServerOptions(ServerSettings.of(flags, environment)))) {
      assertThat(server.httpPort()).isPositive();
      assertThat(log.await("rules: not read"))
          .contains("config/more.conf: another name", "config/teams: a folder")
          .doesNotContain("rules.yaml", "hidden");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "PUT", "POST", "DELETE", "PATCH"})
  void everyMethod_isTakenWhereTheOriginalTakesIt(String method) throws Exception {
    try (RunningServer running = RunningServer.start(folder)) {
      HttpRequest.BodyPublisher body = HttpRequest.BodyPublishers.ofString(REQUEST);
      HttpResponse<String> decided =
          running.send(HttpRequest.newBuilder(running.uri("/json")).method(method, body));
      assertThat(decided.statusCode()).isEqualTo(429);
      assertThat(decided.body()).startsWith("{\"overallCode\":\"OVER_LIMIT\"");
      HttpResponse<String> healthy =
          running.send(
              HttpRequest.newBuilder(running.uri("/healthcheck"))
                  .method(method, HttpRequest.BodyPublishers.noBody()));
      assertThat(healthy.statusCode()).isEqualTo(200);
      assertThat(healthy.body()).isEqualTo("OK");
    }
  }

  @Test
  void brokenJson_isOneClearLine() throws Exception {
    try (RunningServer running = RunningServer.start(folder)) {
      HttpResponse<String> answer = running.post("/json", "{");
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body())
          .isEqualTo(
              "line 1, column 2: Unexpected end-of-input: expected close marker for Object"
                  + " (expected: JSON)\n");
    }
  }

  private static RateLimitDescriptor.Builder descriptor(String key) {
    return RateLimitDescriptor.newBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue("x"));
  }

  @Test
  void headersOfSeveralRefusedDescriptors_areThoseOfTheLast() throws Exception {
    Path rules =
        Files.writeString(
            folder.resolve("two.yaml"),
            """
            domain: test
            descriptors:
              - key: first
                rate_limit: {unit: hour, requests_per_unit: 0}
              - key: last
                rate_limit: {unit: hour, requests_per_unit: 3}
              - key: open
                rate_limit: {unit: hour, requests_per_unit: 2}
            """);
    try (RunningServer running =
        RunningServer.start(Map.of("rules", rules.toString()), "response-headers", "true")) {
      ManagedChannel channel =
          Grpc.newChannelBuilderForAddress(
                  "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
              .build();
      try {
        RateLimitResponse answer =
            RateLimitServiceGrpc.newBlockingStub(channel)
                .shouldRateLimit(
                    RateLimitRequest.newBuilder()
                        .setDomain("test")
                        .setHitsAddend(4)
                        .addDescriptors(descriptor("first"))
                        .addDescriptors(descriptor("last"))
                        .addDescriptors(descriptor("none"))
                        .build());
        assertThat(answer.getOverallCode()).isEqualTo(Code.OVER_LIMIT);
        assertThat(answer.getResponseHeadersToAdd(0).getValue()).isEqualTo("3");
        answer =
            RateLimitServiceGrpc.newBlockingStub(channel)
                .shouldRateLimit(
                    RateLimitRequest.newBuilder()
                        .setDomain("test")
                        .addDescriptors(descriptor("last"))
                        .addDescriptors(descriptor("open"))
                        .build());
        assertThat(answer.getResponseHeadersToAdd(0).getValue()).isEqualTo("2");
      } finally {
        channel.shutdownNow();
      }
    }
  }
}
