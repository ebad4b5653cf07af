package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Struct;
import com.google.protobuf.util.JsonFormat;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitServiceGrpc;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dynamic metadata in answers to Envoy, over gRPC and as JSON. */
class DynamicMetadataTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: a
          rate_limit: {unit: hour, requests_per_unit: 5}
          metadata: {model: big, tags: {tier: gold, x: 1}, list: [1, two, null, .inf]}
        - key: b
          rate_limit: {unit: hour, requests_per_unit: 5}
          metadata: {model: small, tags: {tier: lead, y: true}}
        - key: used
          rate_limit: {unit: hour, requests_per_unit: 0}
          quota_mode: true
          metadata: {used: true}
        - key: shadow
          rate_limit: {unit: hour, requests_per_unit: 0}
          shadow_mode: true
          metadata: {shadow: true}
      """;

  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;

  @BeforeAll
  static void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    running = RunningServer.start(Map.of("rules", rules.toString()), "dynamic-metadata", "true");
    channel =
        Grpc.newChannelBuilderForAddress(
                "127.0.0.1", running.server.grpcPort(), InsecureChannelCredentials.create())
            .build();
  }

  @AfterAll
  static void stop() {
    channel.shutdownNow();
    running.close();
  }

  /** Sends a request as JSON to both ports, and returns the metadata that both answers have. */
  private static Struct metadata(String request) throws Exception {
    RateLimitRequest.Builder message = RateLimitRequest.newBuilder();
    JsonFormat.parser().merge(request, message);
    Struct overGrpc =
        RateLimitServiceGrpc.newBlockingStub(channel)
            .shouldRateLimit(message.build())
            .getDynamicMetadata();
    String json = running.post("/json", request).body();
    String printed = JsonFormat.printer().omittingInsignificantWhitespace().print(overGrpc);
    assertThat(json).endsWith(",\"dynamicMetadata\":" + printed + "}");
    return overGrpc;
  }

  private static void expect(String request, String metadata) throws Exception {
    Struct.Builder expected = Struct.newBuilder();
    JsonFormat.parser().merge(metadata, expected);
    assertThat(metadata(request)).isEqualTo(expected.build());
  }

  @Test
  void rulesThatPassed_areMergedAndTheFirstWins() throws Exception {
    for (int i = 0; i < 2; i++) { // A rule's metadata does not stick to another's.
      expect(
          """
          {"domain": "d", "hitsAddend": 1, "descriptors": [
            {"entries": [{"key": "a", "value": "x"}], "hitsAddend": 0},
            {"entries": [{"key": "b", "value": "y"}], "hitsAddend": 0}]}
          """,
          """
          {"domain": "d", "hitsAddend": 1, "descriptors": [
            {"entries": ["a=x"], "hitsAddend": 0},
            {"entries": ["b=y"], "hitsAddend": 0}],
           "metadata": {"model": "big", "tags": {"tier": "gold", "x": 1, "y": true},
             "list": [1, "two", null, "Infinity"]}}
          """);
      expect(
          """
          {"domain": "d", "descriptors": [{"entries": [{"key": "b"}], "hitsAddend": 0}]}
          """,
          """
          {"domain": "d", "descriptors": [{"entries": ["b="], "hitsAddend": 0}],
           "metadata": {"model": "small", "tags": {"tier": "lead", "y": true}}}
          """);
    }
  }

  @Test
  void rulesThatWereOver_areLeftOutAndShadowedOnesAreIn() throws Exception {
    expect(
        """
        {"domain": "d", "descriptors": [
          {"entries": [{"key": "used"}], "hitsAddend": 2},
          {"entries": [{"key": "shadow"}], "hitsAddend": 3}]}
        """,
        """
        {"domain": "d", "descriptors": [
          {"entries": ["used="], "hitsAddend": 2},
          {"entries": ["shadow="], "hitsAddend": 3}],
         "metadata": {"shadow": true}}
        """);
  }

  @Test
  void requestWithoutARule_isThereAllTheSame() throws Exception {
    expect(
        """
        {"domain": "other", "descriptors": [{"entries": [{"key": "k", "value": "v"}],
          "limit": {"requestsPerUnit": 10, "unit": "SECOND", "unitMultiplier": 30}}]}
        """,
        """
        {"domain": "other", "descriptors": [{"entries": ["k=v"], "hitsAddend": 0,
          "limit": "requests_per_unit:10 unit:SECOND unit_multiplier:30"}]}
        """);
  }
}
