package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of the seats of requests, by limits at the same time. */
class VerdictSeatsTest {
  private static final long SECOND = 1_000_000_000L;
  private static final String RULES =
      """
      domain: app
      descriptors:
        - key: exports
          rate_limit: {concurrency: 2, hold: 9s}
        - key: line
          rate_limit:
            {concurrency: 1, hold: 9s, on_limit: {queue: {requests: 5, wait: 20s}}}
        - key: ip
          rate_limit: {window: 1m, requests_per_unit: 3, algorithm: fixed-window}
      """;

  private final LimitedEngine limits = new LimitedEngine();

  @BeforeEach
  void applyRules() {
    limits.engine.apply(LimitedEngine.rules(RULES));
  }

  private static Verdict decide(RequestLimiter limiter) {
    return LimitedEngine.decide(limiter, TestView.get("/export"));
  }

  private long left(String key) {
    AtomicLong left = new AtomicLong();
    limits.engine.peek(
        Request.of("app", key, "203.0.113.7"),
        answer ->
            left.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return left.get();
  }

  @Test
  void seatIsHeldUntilTheEnd_whateverWasAnswered() {
    RequestLimiter limiter = limits.limiter("exports={ip}").build();
    Verdict verdict = decide(limiter);
    assertThat(verdict.holdsSeat()).isTrue();
    assertThat(left("exports")).isEqualTo(1);
    verdict.responded(200);
    for (int i = 0; i < 20; i++) {
      limits.ticker.advance(3 * SECOND);
    }
    assertThat(left("exports")).isEqualTo(1);
    verdict.ended();
    verdict.ended();
    verdict.abandoned();
    assertThat(verdict.holdsSeat()).isFalse();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(limits.engine.seats().metrics().released()).isEqualTo(1);
  }

  @Test
  void notServed_seatAndPermitsAreGivenBack() {
    RequestLimiter limiter = limits.limiter("exports={ip}").descriptor("ip={ip}").build();
    decide(limiter).abandoned();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(left("ip")).isEqualTo(3);
    decide(limiter).ended();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(left("ip")).as("it was served").isEqualTo(2);
  }

  @Test
  void refusedOrUnlimited_holdsNoSeat() {
    RequestLimiter limiter = limits.limiter("exports={ip}").exempt("/").build();
    decide(limiter);
    decide(limiter);
    Verdict refused = decide(limiter);
    assertThat(refused.passes()).isFalse();
    assertThat(refused.holdsSeat()).isFalse();
    refused.ended();
    assertThat(left("exports")).isZero();
    Verdict unlimited = LimitedEngine.decide(limiter, TestView.get("/"));
    assertThat(unlimited.holdsSeat()).isFalse();
    unlimited.ended();
    Verdict rate = decide(limits.limiter("ip={ip}").build());
    assertThat(rate.holdsSeat()).isFalse();
    rate.ended();
    assertThat(left("ip")).isEqualTo(2);
  }

  @Test
  void requestThatHasWaited_holdsTheSeatThatItGot() {
    RequestLimiter limiter = limits.limiter("line={ip}").build();
    Verdict first = decide(limiter);
    Verdict refused = decide(limiter);
    List<Verdict> later = new ArrayList<>();
    refused.enqueue(Long.MAX_VALUE, later::add);
    limits.ticker.advance(SECOND);
    assertThat(later).isEmpty();
    first.ended();
    limits.ticker.advance(SECOND);
    assertThat(later).hasSize(1);
    assertThat(later.get(0).holdsSeat()).isTrue();
    assertThat(left("line")).isZero();
    later.get(0).ended();
    assertThat(left("line")).isEqualTo(1);
  }

  /** The head of the response is not the end of the request. */
  @Test
  void statusThatDoesNotCount_keepsTheSeatUntilTheEnd() {
    RequestLimiter limiter =
        limits.limiter("exports={ip}").descriptor("ip={ip}").refundUnless(401).build();
    Verdict verdict = decide(limiter);
    verdict.responded(200);
    assertThat(left("exports")).isEqualTo(1);
    verdict.ended();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(left("ip")).isEqualTo(3);
    Verdict counted = decide(limiter);
    counted.responded(401);
    counted.ended();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(left("ip")).isEqualTo(2);
    Verdict late = decide(limiter);
    late.ended();
    late.responded(200);
    assertThat(left("ip")).isEqualTo(2);
    Verdict unserved = decide(limiter);
    unserved.responded(200);
    unserved.abandoned();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(left("ip")).isEqualTo(2);
  }

  @Test
  void endIsNeverNoticed_longestGivesTheSeatBack() {
    RequestLimiter limiter =
        limits.limiter("exports={ip}").longestSeat(Duration.ofSeconds(5)).build();
    Verdict verdict = decide(limiter);
    limits.ticker.advance(3 * SECOND).advance(2 * SECOND);
    assertThat(verdict.holdsSeat()).isFalse();
    assertThat(left("exports")).isEqualTo(2);
    assertThat(limiter.seats().leaked()).isEqualTo(1);
    assertThatThrownBy(() -> limits.limiter("ip={ip}").longestSeat(Duration.ZERO))
        .hasMessage("longestSeat: PT0S (expected: 1 second to 366 days)");
  }
}
