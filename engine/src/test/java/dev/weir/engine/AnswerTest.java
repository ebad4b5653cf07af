package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An answer's summary of the whole request, and the statuses that it has for Envoy. */
class AnswerTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: three
          rate_limit: {name: three, unit: day, requests_per_unit: 3, algorithm: fixed-window}
        - key: soft
          rate_limit: {unit: day, requests_per_unit: 2, throttle: {soft: 50%}}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: day, requests_per_unit: 2}
        - key: all
          value: "*"
          share_threshold: true
          rate_limit: {unit: day, requests_per_unit: 1}
        - key: never
          rate_limit: {unit: hour, requests_per_unit: 1}
        - key: either
          quota_mode: true
          rate_limit: {unit: day, requests_per_unit: 1}
        - key: free
          rate_limit: {name: free, unlimited: true}
        - key: vip
          rate_limit:
            unit: day
            requests_per_unit: 100
            replaces: [{name: free}, {name: three}]
        - key: known
          descriptors:
            - {key: deeper, rate_limit: {unit: day, requests_per_unit: 1}}
      """;

  private final Fixture fixture = new Fixture(RULES);

  private Answer request(long permits, String... keys) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (String key : keys) {
      descriptors.add(Descriptor.of(key, "x"));
    }
    return fixture.engine.decide(new Request("d", descriptors, permits));
  }

  @Test
  void nothingThatLimits_isNoLimit() {
    assertThat(request(1, "unknown").reason()).isEqualTo(Reason.NO_LIMIT);
    assertThat(request(1, "known", "unknown").reason()).isEqualTo(Reason.NO_LIMIT);
    assertThat(request(1, "free").reason()).isEqualTo(Reason.NO_LIMIT);
    assertThat(request(1, "unknown").domainKnown()).isTrue();
    Answer elsewhere = fixture.engine.decide(Request.of("nowhere", "three", "x"));
    assertThat(elsewhere.reason()).isEqualTo(Reason.NO_LIMIT);
    assertThat(elsewhere.domainKnown()).isFalse();
  }

  @Test
  void severalReasonsToPass_theWeightiestIsReported() {
    assertThat(request(1, "three").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    assertThat(request(1, "unknown", "three").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    request(2, "soft");
    assertThat(request(1, "soft", "vip").reason()).isEqualTo(Reason.TOLERATED);
    request(2, "watched");
    assertThat(request(1, "watched", "vip").reason()).isEqualTo(Reason.SHADOW);
  }

  @Test
  void quotaModeThatIsOver_doesNotSayWhyTheOthersPass() {
    request(1, "either");
    Answer answer = request(1, "either", "vip", "free");
    assertThat(answer.allowed()).as("the only one in quota mode is over").isFalse();
    assertThat(answer.reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(answer.refusing()).containsExactly(answer.statuses().get(0));
  }

  @Test
  void whatOnlyTheEnginesShadowModeLetsPass_isShadow() {
    Fixture watching =
        new Fixture(RULES, new EngineSettings(true, 80, 128, 32, 4096, 1_000), new MemoryStore());
    Answer over = watching.engine.decide(new Request("d", List.of(Descriptor.of("never", "x")), 2));
    assertThat(over.allowed()).isTrue();
    assertThat(over.shadowed()).isTrue();
    assertThat(over.reason()).isEqualTo(Reason.SHADOW);
    Answer fits = watching.engine.decide(Request.of("d", "three", "x"));
    assertThat(fits.shadowed()).isFalse();
    assertThat(fits.reason()).isEqualTo(Reason.WITHIN_LIMIT);
  }

  @Test
  void whatCanNeverFit_hasTheWindowAsItsReset_notASecond() {
    Status status = request(4, "three").statuses().get(0);
    assertThat(status.allowed()).isFalse();
    assertThat(status.durationUntilResetSeconds()).isEqualTo(86_400);
    assertThat(status.limitRemaining()).as("nothing is charged").isEqualTo(3);

    request(1, "three");
    assertThat(request(4, "three").statuses().get(0).durationUntilResetSeconds()).isEqualTo(86_400);
    assertThat(request(2, "never").statuses().get(0).durationUntilResetSeconds()).isEqualTo(3_600);

    Status shadow = request(3, "watched").statuses().get(0);
    assertThat(shadow.allowed()).isTrue();
    assertThat(shadow.limitRemaining()).isZero();
    assertThat(shadow.durationUntilResetSeconds()).isEqualTo(86_400);

    Answer twice =
        fixture.engine.decide(
            new Request("d", List.of(Descriptor.of("all", "x"), Descriptor.of("all", "y")), 1));
    assertThat(twice.statuses().get(1).allowed()).isFalse();
    assertThat(twice.statuses().get(1).durationUntilResetSeconds()).isEqualTo(86_400);
  }

  @Test
  void whatFitsLater_hasItsWaitAsItsReset_andAnUntouchedKeyOneSecond() {
    fixture.ticker.advance(86_400_000_000_000L);
    request(3, "three");
    fixture.ticker.advance(1_500_000_000L);
    assertThat(request(1, "three").statuses().get(0).durationUntilResetSeconds()).isEqualTo(86_399);
    Descriptor look = new Descriptor(Descriptor.of("vip", "y").entries(), null, 0L);
    Answer untouched = fixture.engine.decide(new Request("d", List.of(look), 1));
    assertThat(untouched.statuses().get(0).durationUntilResetSeconds()).isEqualTo(1);
  }

  private static Status refusal(String policy, Reason reason, long retryNanos) {
    Decision decision = new Decision(false, reason, policy, 5, 0, retryNanos, 0, 0);
    return new Status(false, null, decision, null, 0, 1);
  }

  private static Answer refused(Status... statuses) {
    return Answer.of(false, List.of(statuses), null, 1);
  }

  private static Status uncertain(boolean allowed, String cause, long retryNanos) {
    Decision decision =
        new Decision(allowed, Reason.UNCERTAIN, cause, "p", 5, 0, retryNanos, 0, 0, List.of());
    return new Status(allowed, null, decision, null, 0, 1);
  }

  @Test
  void causeOfARefusal_isThatOfTheStatusThatDecides_ifTheReasonIsUncertain() {
    Status timeout = uncertain(false, "timeout", 1);
    Status state = uncertain(false, "state", 2);
    assertThat(refused(timeout, state).cause()).isEqualTo("state");
    assertThat(refused(state, timeout).cause()).isEqualTo("state");
    assertThat(refused(state, refusal("over", Reason.OVER_LIMIT, 1)).cause()).isEmpty();
    assertThat(Answer.error("wrong", 1).cause()).isEmpty();
  }

  @Test
  void causeOfAnAdmission_isTheFirst() {
    Status none = Status.UNMATCHED;
    Status open = uncertain(true, "open", 0);
    Status subject = uncertain(true, "subject", 0);
    Answer answer = Answer.of(true, List.of(none, open, subject), null, 1);
    assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(answer.cause()).isEqualTo("open");
    assertThat(Answer.of(true, List.of(none), null, 1).cause()).isEmpty();
  }

  @Test
  void refusalForSeveralReasons_isDecidedByAStatusWithTheReasonOfTheAnswer() {
    Status over = refusal("over", Reason.OVER_LIMIT, 1);
    Status later = refusal("later", Reason.OVER_LIMIT, 2);
    Status unknown = refusal("unknown", Reason.UNCERTAIN, 1_000_000_000L);
    Status full = refusal("full", Reason.KEY_SPACE_FULL, 1);
    for (Answer each : List.of(refused(over, unknown), refused(unknown, over))) {
      assertThat(each.reason()).isEqualTo(Reason.OVER_LIMIT);
      assertThat(each.deciding()).isEqualTo(over);
    }
    assertThat(refused(over, unknown, later, later).deciding()).isSameAs(later);
    assertThat(refused(unknown, full).reason()).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(refused(unknown, full).deciding()).isEqualTo(full);
    assertThat(refused(full, unknown).deciding()).isEqualTo(unknown);
  }

  @Test
  void quotaModeThatIsOver_decidesNothingBesideAnotherRefusal() {
    request(1, "either");
    request(1, "never");
    Answer answer = request(1, "either", "never");
    assertThat(answer.allowed()).isFalse();
    assertThat(answer.deciding()).isEqualTo(answer.statuses().get(1));
  }

  @Test
  void unlimitedRuleThatIsReplaced_isStillReportedAsUnlimited() {
    List<Status> statuses = request(1, "free", "three", "vip").statuses();
    assertThat(statuses.get(0).limitRemaining()).isEqualTo(Status.UNLIMITED);
    assertThat(statuses.get(0).rule()).isNull();
    assertThat(statuses.get(1)).isEqualTo(Status.UNMATCHED);
    assertThat(statuses.get(2).limitRemaining()).isEqualTo(99);
  }
}
