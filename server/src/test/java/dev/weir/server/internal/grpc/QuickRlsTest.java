package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.protocol.envoy.RateLimitDescriptor;
import dev.weir.protocol.envoy.RateLimitRequest;
import dev.weir.protocol.envoy.RateLimitResponse;
import dev.weir.rules.Rules;
import dev.weir.server.LogCapture;
import dev.weir.server.internal.access.Certificates;
import dev.weir.server.internal.access.Tokens;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RequestTimes;
import dev.weir.server.internal.deciding.Tracing;
import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.log.Logs;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import dev.weir.wire.testkit.Http2Client;
import dev.weir.wire.testkit.Http2Client.Answer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of calls ahead of grpc-java that fail while they are decided. */
class QuickRlsTest {
  private static final String RULES =
      """
      domain: test
      descriptors:
        - key: user
          rate_limit: {unit: year, requests_per_unit: 3, algorithm: token-bucket}
      """;

  private final FakeTicker ticker = new FakeTicker();
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private GrpcDoor door;

  @BeforeEach
  void start() throws Exception {
    ServerSettings settings = ServerSettings.of(Map.of("grpc-port", "0"));
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", RULES).ruleSet()));
    DoorCounters counters = new DoorCounters(1_000, PendingBytes.of(settings, ticker));
    RlsService rls =
        new RlsService(
            new GuardedDecider(engine, SystemLoad.of(settings, ticker), ticker),
            settings,
            new RequestTimes(counters.times(), ticker),
            Tracing.OFF);
    door =
        GrpcDoor.open(
            settings,
            rls,
            List.of(),
            Certificates.NONE,
            Tokens.notRequired(),
            counters,
            Tracing.OFF,
            ticker);
  }

  @AfterEach
  void stop() throws Exception {
    door.close(Duration.ZERO);
    engine.close();
  }

  private static Answer request(Http2Client client, int stream) throws Exception {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("test");
    request
        .addDescriptorsBuilder()
        .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey("user").setValue("u"));
    client.send(Http2Client.head(stream), Http2Client.body(stream, request.build().toByteArray()));
    return client.answer(stream);
  }

  private static int remaining(Answer answer) throws Exception {
    assertThat(answer.trailers()).containsEntry("grpc-status", "0");
    return RateLimitResponse.parseFrom(answer.message().position(QuickRls.PREFIX_BYTES))
        .getStatuses(0)
        .getLimitRemaining();
  }

  @Test
  void callThatFailsOnceItIsCharged_isNotChargedAgain_andLoggedOnce() throws Exception {
    try (Http2Client client = Http2Client.open(door.port());
        LogCapture log = new LogCapture()) {
      assertThat(remaining(request(client, 1))).isEqualTo(2);
      engine.observe(
          decided -> {
            throw new IllegalStateException("an observer that throws, as it must not");
          });
      Answer failed = request(client, 3);
      assertThat(failed.trailers())
          .containsEntry(":status", "200")
          .containsEntry("content-type", "application/grpc")
          .containsEntry("grpc-status", "13")
          .containsEntry("grpc-message", "The server failed; its log has the details.");
      assertThat(failed.message().hasRemaining()).isFalse();
      engine.observe(decided -> {});
      assertThat(remaining(request(client, 5))).isZero(); // The failed call is charged, once.
      Logs.LOG.severe("end");
      assertThat(log.next()).isEqualTo("grpc: a request failed");
      assertThat(log.next()).isEqualTo("end");
    }
  }
}
