package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.LimitOrigin;
import dev.weir.engine.Status;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The texts of refusals: they distinguish the causes that an operator has to distinguish. */
class CheckAnswerTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Request REQUEST = Request.of("shop", "user", "alice");

  private static Status refusal(String name, Reason reason, LimitOrigin origin, long retryNanos) {
    return refusal(name, reason, "", origin, retryNanos);
  }

  private static Status refusal(
      String name, Reason reason, String cause, LimitOrigin origin, long retryNanos) {
    Policy policy = Policy.builder(Quota.of(5, Duration.ofMinutes(1))).name(name).build();
    Decision decision = new Decision(false, reason, cause, name, 5, 0, retryNanos, 0, 0, List.of());
    CurrentLimit limit = new CurrentLimit(5, RateLimitUnit.MINUTE, "", policy, null, origin);
    return new Status(false, null, decision, limit, 0, 1);
  }

  private static Status withoutPolicy(Reason reason, String cause) {
    Decision decision = new Decision(false, reason, cause, "", 0, 0, SECOND, 0, 0, List.of());
    return new Status(false, null, decision, null, 0, 0);
  }

  private static CheckAnswer answer(long revision, Status... statuses) {
    return new CheckAnswer(REQUEST, Answer.of(false, List.of(statuses), null, revision));
  }

  private static String json(CheckAnswer answer) {
    return new String(answer.json(), StandardCharsets.UTF_8);
  }

  @Test
  void exceededQuota_isNamed() {
    CheckAnswer answer = answer(1, refusal("p", Reason.OVER_LIMIT, LimitOrigin.RULE, 2 * SECOND));
    assertThat(answer.httpStatus()).isEqualTo(429);
    assertThat(answer.detail()).isEqualTo("Policy p allows 5 requests per 60 s. Retry in 2 s.");
  }

  @Test
  void exceededLimitAtTheSameTime_isNamed() {
    Policy policy = Policy.concurrency(5, Duration.ofMinutes(1)).name("p").build();
    Decision decision =
        new Decision(false, Reason.OVER_LIMIT, "", "p", 5, 0, 2 * SECOND, 0, 0, List.of());
    CurrentLimit limit = new CurrentLimit(5, null, "", policy);
    CheckAnswer answer = answer(1, new Status(false, null, decision, limit, 0, 1));
    assertThat(answer.detail())
        .isEqualTo("Policy p allows 5 requests at the same time. Retry in 2 s.");
  }

  @Test
  void storeThatDoesNotDecide_isTheCause_andItsFailureIsNamed() {
    CheckAnswer answer =
        answer(1, refusal("p", Reason.UNCERTAIN, "timeout", LimitOrigin.RULE, SECOND));
    assertThat(answer.httpStatus()).isEqualTo(503);
    assertThat(answer.detail())
        .isEqualTo(
            "Policy p cannot be checked now: the shared store gave no decision (UNCERTAIN:"
                + " timeout). Retry in 1 s.");
    assertThat(json(answer))
        .contains("\"limit\":5,\"remaining\":0,\"reason\":\"UNCERTAIN\",\"cause\":\"timeout\"")
        .containsPattern("statuses.*\"reason\":\"UNCERTAIN\",\"cause\":\"timeout\"");
  }

  @Test
  void storeWithoutACause_namesThePolicyOnly() {
    CheckAnswer answer = answer(1, refusal("p", Reason.UNCERTAIN, LimitOrigin.RULE, SECOND));
    assertThat(answer.detail())
        .isEqualTo("Policy p cannot be checked now (UNCERTAIN). Retry in 1 s.");
    assertThat(json(answer)).doesNotContain("cause");
  }

  @Test
  void subjectWhoseLimitsAreNotKnown_isTheCause() {
    CheckAnswer answer =
        answer(1, refusal("p", Reason.UNCERTAIN, "subject", LimitOrigin.UNKNOWN, SECOND));
    assertThat(answer.detail())
        .isEqualTo(
            "Policy p cannot be checked now: the limits of its subject are not known (UNCERTAIN:"
                + " subject). Retry in 1 s.");
    CheckAnswer crowded = answer(1, refusal("p", Reason.OVERLOADED, LimitOrigin.UNKNOWN, SECOND));
    assertThat(crowded.detail())
        .isEqualTo(
            "Policy p cannot be checked now: the limits of its subject are not known (OVERLOADED)."
                + " Retry in 1 s.");
  }

  @Test
  void serverWithoutRules_saysSo_andNamesNoPolicy() {
    CheckAnswer answer = answer(0, withoutPolicy(Reason.UNCERTAIN, "no_rules"));
    assertThat(answer.httpStatus()).isEqualTo(503);
    assertThat(answer.detail())
        .isEqualTo("No rules are known yet (UNCERTAIN: no_rules). Retry in 1 s.");
    assertThat(json(answer))
        .contains("\"violated-policies\":[]", "\"reason\":\"UNCERTAIN\",\"cause\":\"no_rules\"");
    CheckAnswer two =
        answer(
            0,
            withoutPolicy(Reason.UNCERTAIN, "no_rules"),
            withoutPolicy(Reason.UNCERTAIN, "no_rules"));
    assertThat(json(two)).contains("\"violated-policies\":[]");
  }

  @Test
  void sidecarWithoutItsUpstreamServer_saysSo_withAndWithoutAPolicy() {
    assertThat(answer(0, withoutPolicy(Reason.UNCERTAIN, "upstream")).detail())
        .isEqualTo(
            "The limits of this request cannot be checked now: the upstream server gave no answer"
                + " (UNCERTAIN: upstream). Retry in 1 s.");
    assertThat(
            answer(3, refusal("p", Reason.UNCERTAIN, "upstream", LimitOrigin.RULE, SECOND))
                .detail())
        .isEqualTo(
            "Policy p cannot be checked now: the upstream server gave no answer (UNCERTAIN:"
                + " upstream). Retry in 1 s.");
  }

  @Test
  void requestThatPassesWithoutADecision_hasTheCauseToo() {
    Status refused = refusal("p", Reason.UNCERTAIN, "open", LimitOrigin.RULE, SECOND);
    Decision passes =
        Status.allowed(Objects.requireNonNull(refused.decision()), Reason.UNCERTAIN, 0);
    Status status = new Status(true, null, passes, refused.currentLimit(), 0, 1);
    CheckAnswer answer = new CheckAnswer(REQUEST, Answer.of(true, List.of(status), null, 1));
    assertThat(json(answer)).contains("\"reason\":\"UNCERTAIN\",\"cause\":\"open\",\"statuses\"");
  }

  @Test
  void otherRefusalWithoutAPolicy_namesTheReason() {
    CheckAnswer answer = answer(3, withoutPolicy(Reason.OVERLOADED, ""));
    assertThat(answer.detail())
        .isEqualTo("The limits of this request cannot be checked now (OVERLOADED). Retry in 1 s.");
  }

  @Test
  void refusalForTwoReasons_describesTheExceededQuota() {
    CheckAnswer answer =
        answer(
            1,
            refusal("away", Reason.UNCERTAIN, LimitOrigin.RULE, SECOND),
            refusal("over", Reason.OVER_LIMIT, LimitOrigin.RULE, SECOND / 2));
    assertThat(answer.httpStatus()).isEqualTo(429);
    assertThat(answer.detail()).isEqualTo("Policy over allows 5 requests per 60 s. Retry in 1 s.");
    assertThat(json(answer)).contains("\"violated-policies\":[\"away\",\"over\"]");
  }
}
