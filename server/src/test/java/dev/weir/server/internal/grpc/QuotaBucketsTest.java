package dev.weir.server.internal.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.protocol.envoy.BucketId;
import dev.weir.protocol.envoy.RateLimitQuotaResponse;
import dev.weir.protocol.envoy.RateLimitQuotaResponse.BucketAction;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports;
import dev.weir.protocol.envoy.RateLimitQuotaUsageReports.BucketQuotaUsage;
import dev.weir.protocol.envoy.RateLimitStrategy.BlanketRule;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Rules;
import dev.weir.server.LogCapture;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.guard.SystemLoad;
import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.testkit.FakeTicker;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the bytes kept of the buckets of Envoys, whose texts and number their clients choose.
 */
class QuotaBucketsTest {
  /** The most garbage collections in which weak references must be cleared. */
  private static final int COLLECTIONS = 20;

  private static final String RULES =
      """
      domain: envoy
      descriptors:
        - key: lent
          rate_limit: {unit: hour, requests_per_unit: 1000, consistency: leased, sync_interval: 4m}
        - key: strict
          rate_limit: {unit: hour, requests_per_unit: 10}
      """;

  /** The most characters of a value. */
  private static final int LONGEST = 4_096;

  private static final int ALL = 20_000;

  private final FakeTicker ticker = new FakeTicker(1_000_000_000L);
  private final Engine engine =
      Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS.lending(200_000));
  private final GuardedDecider decider =
      new GuardedDecider(engine, SystemLoad.of(ServerSettings.defaults(), ticker), ticker);
  private final QuotaBounds bounds = new QuotaBounds(ALL, LONGEST, ticker);
  private final QuotaBuckets buckets = stream();

  @BeforeEach
  void rules() {
    apply(RULES);
  }

  private void apply(String rules) {
    engine.apply(Objects.requireNonNull(Rules.parse("rules.yaml", rules).ruleSet()));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private QuotaBuckets stream() {
    return new QuotaBuckets(decider, ticker, bounds, null);
  }

  private static BucketQuotaUsage usage(String key, String value, long asked) {
    return BucketQuotaUsage.newBuilder()
        .setBucketId(BucketId.newBuilder().putBucket(key, value))
        .setNumRequestsDenied(asked)
        .build();
  }

  private static List<BucketAction> report(QuotaBuckets to, List<BucketQuotaUsage> usages)
      throws BadRequest {
    List<@Nullable RateLimitQuotaResponse> responses = new ArrayList<>();
    to.answer(
        RateLimitQuotaUsageReports.newBuilder()
            .setDomain("envoy")
            .addAllBucketQuotaUsages(usages)
            .build(),
        responses::add);
    assertThat(responses).hasSize(1);
    RateLimitQuotaResponse response = responses.get(0);
    return response == null ? List.of() : response.getBucketActionList();
  }

  private List<BucketAction> report(String key, String value, long asked) throws BadRequest {
    return report(buckets, List.of(usage(key, value, asked)));
  }

  private static String longest(int i) {
    return String.format("%0" + LONGEST + "d", i);
  }

  /**
   * Reports a bucket with the longest value, and returns that value, to which there is no other
   * reference.
   */
  private WeakReference<String> reported(String key, int i) throws BadRequest {
    String value = longest(i);
    assertThat(report(key, value, 1)).hasSize(1);
    return new WeakReference<>(value);
  }

  @Test
  void texts_areNotKept() throws Exception {
    List<WeakReference<String>> texts = new ArrayList<>();
    for (String key : List.of("lent", "strict", "unknown")) {
      for (int i = 0; i < 100; i++) {
        texts.add(reported(key, i));
      }
    }
    assertThat(bounds.buckets()).isEqualTo(100);
    for (int i = 0; i < COLLECTIONS && !texts.isEmpty(); i++) {
      System.gc();
      texts.removeIf(text -> text.get() == null);
    }
    assertThat(texts.size()).as("texts still in memory").isZero();
  }

  @Test
  void bucketsWithoutAnAssignment_keepNothing() throws Exception {
    for (int i = 0; i < 1_000; i++) {
      assertThat(report("strict", "s" + i, 1).get(0).hasAbandonAction()).isTrue();
      BlanketRule rule =
          report("unknown", "u" + i, 1)
              .get(0)
              .getQuotaAssignmentAction()
              .getRateLimitStrategy()
              .getBlanketRule();
      assertThat(rule).isEqualTo(BlanketRule.ALLOW_ALL);
    }
    assertThat(bounds.buckets()).isZero();
  }

  @Test
  void bucketsOfOneEnvoy_areBounded_andOfAll() throws Exception {
    List<QuotaBuckets> streams = new ArrayList<>();
    int assigned = 0;
    try (LogCapture log = new LogCapture()) {
      for (int i = 0; i < 3; i++) {
        QuotaBuckets stream = stream();
        streams.add(stream);
        for (int j = 0; j < QuotaBuckets.MAX_BUCKETS + 10; j += 10) {
          List<BucketQuotaUsage> ten = new ArrayList<>();
          for (int k = j; k < j + 10; k++) {
            ten.add(usage("lent", i + "-" + k, 1));
          }
          for (BucketAction action : report(stream, ten)) {
            assigned += action.hasQuotaAssignmentAction() ? 1 : 0;
          }
        }
        ticker.advance(Duration.ofMinutes(3)); // The number of lines at a time is limited.
      }
      assertThat(log.text())
          .contains("more than 10000 buckets of one Envoy")
          .contains("more than 20000 buckets of all Envoys (--max-quota-buckets)");
    }
    assertThat(assigned).isEqualTo(ALL);
    streams.get(0).ended();
    streams.get(0).ended();
    assertThat(bounds.buckets()).isEqualTo(ALL - QuotaBuckets.MAX_BUCKETS);
    assertThat(report("lent", "later", 1).get(0).hasQuotaAssignmentAction()).isTrue();
  }

  @Test
  void bucketsThatTheirEnvoyHasForgotten_makeRoom() throws Exception {
    for (int i = 0; i < QuotaBuckets.MAX_BUCKETS; i++) {
      report("lent", "first" + i, 1);
    }
    assertThat(report("lent", "no room", 1).get(0).hasAbandonAction()).isTrue();
    ticker.advance(Duration.ofMinutes(10));
    assertThat(report("lent", "room", 1).get(0).hasQuotaAssignmentAction()).isTrue();
    assertThat(bounds.buckets()).isOne();
  }

  @Test
  void idleBucket_isForgotten() throws Exception {
    report("lent", "a", 1);
    ticker.advance(Duration.ofSeconds(59));
    assertThat(report("lent", "a", 0)).isEmpty();
    ticker.advance(Duration.ofSeconds(1));
    assertThat(report("lent", "a", 0).get(0).hasAbandonAction()).isTrue();
    assertThat(bounds.buckets()).isZero();
  }

  @Test
  void idleBucketWithoutARule_isForgottenWithinTwoMinutes() throws Exception {
    report("unknown", "a", 1);
    ticker.advance(Duration.ofSeconds(59));
    assertThat(report("unknown", "a", 0)).isEmpty();
    ticker.advance(Duration.ofSeconds(61));
    assertThat(report("unknown", "a", 0).get(0).hasAbandonAction()).isTrue();
  }

  @Test
  void bucketWhoseRuleIsGone_keepsNothing() throws Exception {
    report("lent", "a", 1);
    apply(RULES.replace("key: lent", "key: other"));
    assertThat(report("lent", "a", 1).get(0).hasQuotaAssignmentAction()).isTrue();
    assertThat(bounds.buckets()).isZero();
  }

  @Test
  void bucketWithItsEntriesInAnotherOrder_isTheSame() throws Exception {
    BucketId one = BucketId.newBuilder().putBucket("a", "1").putBucket("b", "2").build();
    BucketId two = BucketId.newBuilder().putBucket("b", "2").putBucket("a", "1").build();
    BucketId other = BucketId.newBuilder().putBucket("a", "2").putBucket("b", "1").build();
    assertThat(bounds.fingerprint(1, "d", one)).isEqualTo(bounds.fingerprint(1, "d", two));
    assertThat(bounds.fingerprint(1, "d", one)).isNotEqualTo(bounds.fingerprint(1, "d", other));
    assertThat(bounds.fingerprint(1, "d", one)).isNotEqualTo(bounds.fingerprint(2, "d", one));
    assertThat(bounds.fingerprint(1, "d", one)).isNotEqualTo(bounds.fingerprint(1, "e", one));
  }

  @Test
  void ruleThatCannotBeExpressed_isInTheLogOnce() throws Exception {
    try (LogCapture log = new LogCapture()) {
      for (int i = 0; i < 10; i++) {
        report("strict", "s" + i, 1);
      }
      assertThat(log.text()).containsOnlyOnce("rule envoy.strict: consistency: strict");
    }
  }

  @Test
  void domainThatIsTooLong_isRefused() {
    RateLimitQuotaUsageReports report =
        RateLimitQuotaUsageReports.newBuilder().setDomain(longest(1) + "x").build();
    assertThatThrownBy(() -> buckets.answer(report, done -> {}))
        .isInstanceOf(BadRequest.class)
        .hasMessage("domain length: 4097 (expected: at most 4096)");
  }
}
