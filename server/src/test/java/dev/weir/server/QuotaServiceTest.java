package dev.weir.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.Durations;
import dev.weir.protocol.envoy.BucketId;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaResponse.BucketAction;
import dev.weir.protocol.envoy.RateLimitQuotaServiceGrpc;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.protocol.envoy.RateLimitStrategy;
import dev.weir.protocol.envoy.RateLimitStrategy.BlanketRule;
import dev.weir.protocol.envoy.TokenBucket;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of quota assignments for Envoy, with requests like those of its filter. */
class QuotaServiceTest {
  private static final String RULES =
      """
      domain: envoy
      descriptors:
        - key: tenant
          rate_limit:
            {unit: hour, requests_per_unit: 40, consistency: leased, sync_interval: 4m}
          descriptors:
            - key: path
              rate_limit:
                {unit: hour, requests_per_unit: 1000, consistency: leased, sync_interval: 4m}
        - key: about
          rate_limit:
            {unit: hour, requests_per_unit: 10, consistency: approximate, sync_interval: 4m}
        - key: strict
          rate_limit: {unit: hour, requests_per_unit: 10}
        - key: free
          rate_limit: {unlimited: true}
      """;

  /** Three quarters of the sync interval. */
  private static final long LIFE_SECONDS = 180;

  @TempDir private static Path folder;
  private static RunningServer running;
  private static ManagedChannel channel;

  @BeforeAll
  static void start() throws Exception {
    Path rules = Files.writeString(folder.resolve("rules.yaml"), RULES);
    running = RunningServer.start(Map.of("rules", rules.toString()));
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

  /** One Envoy. */
  private static final class Envoy
      implements StreamObserver<RateLimitQuotaResponse>, AutoCloseable {
    final BlockingQueue<RateLimitQuotaResponse> responses = new LinkedBlockingQueue<>();
    final BlockingQueue<Status> ended = new LinkedBlockingQueue<>();
    final StreamObserver<RateLimitQuotaUsageReports> reports =
        RateLimitQuotaServiceGrpc.newStub(channel).streamRateLimitQuotas(this);

    Envoy report(String domain, long allowed, long denied, Map<String, String> bucket) {
      reports.onNext(
          RateLimitQuotaUsageReports.newBuilder()
              .setDomain(domain)
              .addBucketQuotaUsages(
                  BucketQuotaUsage.newBuilder()
                      .setBucketId(BucketId.newBuilder().putAllBucket(bucket))
                      .setNumRequestsAllowed(allowed)
                      .setNumRequestsDenied(denied))
              .build());
      return this;
    }

    BucketAction action() throws InterruptedException {
      RateLimitQuotaResponse response = responses.poll(20, TimeUnit.SECONDS);
      return Objects.requireNonNull(response).getBucketAction(0);
    }

    RateLimitStrategy strategy() throws InterruptedException {
      return action().getQuotaAssignmentAction().getRateLimitStrategy();
    }

    /** Returns the permits of the next assignment in its lifetime. */
    long permits() throws InterruptedException {
      return worth(strategy());
    }

    @Override
    public void onNext(RateLimitQuotaResponse response) {
      responses.add(response);
    }

    @Override
    public void onError(Throwable error) {
      ended.add(Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      ended.add(Status.OK);
    }

    @Override
    public void close() {
      reports.onCompleted();
    }
  }

  private static long worth(RateLimitStrategy strategy) {
    if (!strategy.hasTokenBucket()) {
      return 0;
    }
    TokenBucket bucket = strategy.getTokenBucket();
    long lives = Durations.toSeconds(bucket.getFillInterval()) / LIFE_SECONDS;
    return bucket.getMaxTokens() + bucket.getTokensPerFill().getValue() / lives;
  }

  private static Map<String, String> tenant(String name) {
    return Map.of("tenant", name);
  }

  @Test
  void assignment_isALeaseOfWhatItHoldsAndRefillsInItsLife() throws Exception {
    try (Envoy envoy = new Envoy()) {
      BucketAction action = envoy.report("envoy", 0, 1, tenant("one")).action();
      assertThat(action.getBucketId().getBucketMap()).containsEntry("tenant", "one");
      assertThat(Durations.toSeconds(action.getQuotaAssignmentAction().getAssignmentTimeToLive()))
          .isEqualTo(LIFE_SECONDS);
      assertThat(worth(action.getQuotaAssignmentAction().getRateLimitStrategy())).isEqualTo(2);

      TokenBucket next = envoy.report("", 2, 6, tenant("one")).strategy().getTokenBucket();
      assertThat(next.getMaxTokens()).isEqualTo(2);
      assertThat(next.getTokensPerFill().getValue()).isEqualTo(8);
      assertThat(Durations.toSeconds(next.getFillInterval())).isEqualTo(LIFE_SECONDS);
    }
  }

  @Test
  void assignments_neverExceedTheLimit() throws Exception {
    long assigned = 0;
    try (Envoy one = new Envoy();
        Envoy two = new Envoy()) {
      for (int i = 0; i < 30; i++) {
        for (Envoy each : new Envoy[] {one, two}) {
          RateLimitStrategy strategy = each.report("envoy", 0, 20, tenant("many")).strategy();
          assigned += worth(strategy);
          if (!strategy.hasTokenBucket()) {
            assertThat(strategy.getBlanketRule()).isEqualTo(BlanketRule.DENY_ALL);
          }
        }
      }
    }
    assertThat(assigned).isEqualTo(40);
  }

  @Test
  void requestsWithoutAssignment_areCountedAfterwards() throws Exception {
    try (Envoy envoy = new Envoy()) {
      envoy.report("envoy", 36, 0, tenant("late"));
      assertThat(envoy.permits()).isEqualTo(1);
      envoy.report("", 0, 20, tenant("late"));
      assertThat(envoy.permits()).as("of the three that are left").isEqualTo(1);
    }
  }

  @Test
  void bucketOfSeveralEntries_isFoundInAnyOrder() throws Exception {
    try (Envoy envoy = new Envoy()) {
      envoy.report("envoy", 0, 100, Map.of("path", "/x", "tenant", "deep"));
      assertThat(envoy.permits()).isEqualTo(151);
    }
  }

  @Test
  void approximateRule_isServedToo() throws Exception {
    try (Envoy envoy = new Envoy()) {
      envoy.report("envoy", 0, 3, Map.of("about", "x"));
      assertThat(envoy.permits()).isEqualTo(5);
      envoy.report("", 0, 30, Map.of("about", "x"));
      assertThat(envoy.permits()).isEqualTo(1);
    }
  }

  @Test
  void ruleThatCannotBeExpressed_isAbandonedWithAWarning() throws Exception {
    try (LogCapture log = new LogCapture();
        Envoy envoy = new Envoy()) {
      assertThat(envoy.report("envoy", 0, 1, Map.of("strict", "x")).action().hasAbandonAction())
          .isTrue();
      assertThat(log.text())
          .contains("rule envoy.strict: consistency: strict (expected: leased or approximate");
    }
  }

  @Test
  void bucketWithoutLimit_passes() throws Exception {
    try (Envoy envoy = new Envoy()) {
      for (String key : new String[] {"free", "unknown"}) {
        RateLimitStrategy strategy = envoy.report("envoy", 1, 0, Map.of(key, "x")).strategy();
        assertThat(strategy.hasBlanketRule()).isTrue();
        assertThat(strategy.getBlanketRule()).isEqualTo(BlanketRule.ALLOW_ALL);
      }
    }
  }

  @Test
  void streamWithoutDomain_isRefused() throws Exception {
    try (Envoy envoy = new Envoy()) {
      Status status =
          Objects.requireNonNull(
              envoy.report("", 0, 1, tenant("none")).ended.poll(20, TimeUnit.SECONDS));
      assertThat(status.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(status.getDescription())
          .isEqualTo("domain: missing (expected: in the first report of a stream)");
    }
  }
}
