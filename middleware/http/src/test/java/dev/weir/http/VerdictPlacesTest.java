package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Answer;
import dev.weir.identity.MissingValue;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of the places of requests under an adaptive limit. */
class VerdictPlacesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: app
      descriptors:
        - key: ip
          rate_limit: {window: 1h, requests_per_unit: 3, algorithm: fixed-window}
        - key: turn
          rate_limit:
            window: 1s
            requests_per_unit: 1
            algorithm: fixed-window
            on_limit: {queue: {requests: 1, wait: 10s}}
      """;

  private final LimitedEngine limits = new LimitedEngine();
  private final AdaptiveLimiter adaptive = adaptive(1);

  private AdaptiveLimiter adaptive(int initial) {
    return AdaptiveLimiter.builder()
        .algorithm(AdaptiveAlgorithm.AIMD)
        .initial(initial)
        .window(Duration.ofSeconds(1))
        .ticker(limits.ticker)
        .build();
  }

  @BeforeEach
  void applyRules() {
    limits.engine.apply(LimitedEngine.rules(RULES));
  }

  private Verdict decide(RequestLimiter limiter) {
    return LimitedEngine.decide(limiter, TestView.get("/export"));
  }

  private RequestLimiter.Builder limiter(String descriptor) {
    return limits.limiter(descriptor).adaptive(adaptive);
  }

  private long left() {
    AtomicLong left = new AtomicLong();
    limits.engine.peek(
        Request.of("app", "ip", "203.0.113.7"),
        answer ->
            left.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return left.get();
  }

  @Test
  void placeIsHeldUntilTheEnd_andLearntAtTheHead() {
    RequestLimiter limiter = limiter("ip={ip}").build();
    Verdict verdict = decide(limiter);
    assertThat(verdict.passes()).isTrue();
    assertThat(verdict.awaitsStatus()).isTrue();
    assertThat(verdict.holdsSeat()).isTrue();
    limits.ticker.advance(SECOND);
    verdict.responded(200);
    assertThat(adaptive.inFlight()).isEqualTo(1);
    limits.ticker.advance(100 * SECOND); // A stream.
    verdict.responded(503);
    verdict.ended();
    verdict.ended();
    assertThat(verdict.holdsSeat()).isFalse();
    assertThat(adaptive.inFlight()).isZero();
    Verdict second = decide(limiter);
    limits.ticker.advance(3 * SECOND);
    second.responded(404);
    second.ended();
    assertThat(adaptive.limit()).isEqualTo(2);
    assertThat(adaptive.explain().latencies().lastNanos()).isEqualTo(2 * SECOND);
  }

  @Test
  void beyondTheLimit_isRefusedWithoutACharge() {
    RequestLimiter limiter = limiter("ip={ip}").build();
    Verdict served = decide(limiter);
    Verdict refused = decide(limiter);
    assertThat(refused.passes()).isFalse();
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.answer()).isNull();
    assertThat(refused.holdsSeat()).isFalse();
    assertThat(refused.maxWaitNanos()).isZero();
    assertThat(LimitedEngine.fields(refused)).containsOnlyKeys("Cache-Control");
    assertThat(new String(refused.refusal().bytes(), StandardCharsets.UTF_8))
        .contains("503", "As many requests are served at the same time as can be now.");
    assertThat(left()).isEqualTo(2);
    served.ended();
    assertThat(decide(limiter).passes()).isTrue();
    assertThat(adaptive.refusals()).isEqualTo(1);
  }

  @Test
  void refusedByARule_givesItsPlaceBack() {
    RequestLimiter limiter = limiter("ip={ip}").build();
    for (int i = 0; i < 3; i++) {
      decide(limiter).ended();
    }
    assertThat(decide(limiter).status()).isEqualTo(429);
    assertThat(adaptive.inFlight()).isZero();
  }

  @Test
  void exemptRequest_takesNoPlace() {
    assertThat(decide(limiter("ip={ip}").exempt("/export").build()).holdsSeat()).isFalse();
    assertThat(adaptive.inFlight()).isZero();
  }

  @Test
  void requestWithoutRules_takesAPlace() {
    RequestLimiter limiter = limiter("login={login}").missing(MissingValue.SKIP).build();
    Verdict served = decide(limiter);
    assertThat(served.passes()).isTrue();
    assertThat(served.answer()).isNull();
    assertThat(served.holdsSeat()).isTrue();
    assertThat(decide(limiter).status()).isEqualTo(503);
    served.abandoned();
    assertThat(adaptive.inFlight()).isZero();
  }

  @Test
  void decisionThatThrows_givesThePlaceBack() {
    RequestLimiter limiter = limiter("ip={ip}").build();
    assertThatThrownBy(
            () ->
                limiter.decide(
                    TestView.get("/export"),
                    verdict -> {
                      throw new IllegalStateException("no");
                    }))
        .hasMessage("no");
    assertThat(adaptive.inFlight()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"503, 1", "504, 1", "500, 2", "502, 2", "429, 2", "200, 2"})
  void status_isDroppedIfItMeansOverload(int status, int limit) {
    AdaptiveLimiter two = adaptive(2);
    Verdict verdict = decide(limits.limiter("ip={ip}").adaptive(two).build());
    verdict.responded(status);
    verdict.ended();
    assertThat(two.limit()).isEqualTo(limit);
  }

  @Test
  void endWithoutAHead_teachesNothing() {
    AdaptiveLimiter two = adaptive(2);
    RequestLimiter limiter = limits.limiter("user=x").adaptive(two).build();
    for (int i = 0; i < 20; i++) {
      Verdict verdict = decide(limiter);
      limits.ticker.advance(SECOND);
      verdict.ended(); // The client has left.
      verdict.responded(503);
    }
    assertThat(two.limit()).isEqualTo(2);
    assertThat(two.explain().latencies().lastNanos()).isZero();
  }

  @Test
  void requestThatNeverEnds_givesItsPlaceBackInTheEnd() {
    RequestLimiter limiter = limiter("ip={ip}").longestSeat(Duration.ofSeconds(10)).build();
    Verdict verdict = decide(limiter);
    limits.ticker.advance(9 * SECOND);
    assertThat(adaptive.inFlight()).isEqualTo(1);
    limits.ticker.advance(SECOND);
    assertThat(adaptive.inFlight()).isZero();
    assertThat(verdict.holdsSeat()).isFalse();
    assertThat(limiter.seats().leaked()).isEqualTo(1);
    verdict.ended();
    assertThat(adaptive.inFlight()).isZero();
  }

  @Test
  void requestThatWaitsForARule_hasNoPlaceMeanwhile() {
    RequestLimiter limiter = limiter("turn=1").build();
    decide(limiter).ended();
    Verdict refused = decide(limiter);
    assertThat(refused.passes()).isFalse();
    List<Verdict> turns = new ArrayList<>();
    refused.enqueue(refused.maxWaitNanos(), turns::add);
    assertThat(adaptive.inFlight()).isZero();
    limits.ticker.advance(SECOND);
    assertThat(turns).hasSize(1);
    assertThat(turns.get(0).passes()).isTrue();
    assertThat(adaptive.inFlight()).isEqualTo(1);
    turns.get(0).ended();
    assertThat(adaptive.inFlight()).isZero();
  }

  @Test
  void requestWithoutAPlaceAfterItsWait_isRefusedAndNotCharged() {
    RequestLimiter limiter = limiter("turn=1").build();
    decide(limiter).ended();
    Verdict refused = decide(limiter);
    List<Verdict> turns = new ArrayList<>();
    refused.enqueue(refused.maxWaitNanos(), turns::add);
    AdaptivePermit other = adaptive.tryAcquire();
    limits.ticker.advance(SECOND);
    assertThat(turns).hasSize(1);
    assertThat(turns.get(0).passes()).isFalse();
    assertThat(turns.get(0).status()).isEqualTo(503);
    other.close();
    List<Answer> answers = new ArrayList<>();
    limits.engine.decide(Request.of("app", "turn", "1"), answers::add);
    assertThat(answers.get(0).allowed()).as("its permit was given back").isTrue();
  }
}
