package dev.weir.protocol.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.Trials;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateLimitFieldsTest {
  private static final long SECOND = 1_000_000_000L;

  private static Policy policy(String name, long permits, Duration window) {
    return Policy.builder(Quota.of(permits, window)).name(name).build();
  }

  private static Status status(Policy policy, long remaining, Reason reason, long retryNanos) {
    boolean ok = reason == Reason.WITHIN_LIMIT;
    Decision decision =
        new Decision(
            ok, reason, policy.name(), policy.burst(), remaining, retryNanos, 40 * SECOND, 0);
    CurrentLimit limit = new CurrentLimit(policy.burst(), RateLimitUnit.MINUTE, "", policy);
    return new Status(ok, null, decision, limit, remaining, 40);
  }

  private static Answer answer(Status... statuses) {
    boolean ok = List.of(statuses).stream().allMatch(Status::allowed);
    return Answer.of(ok, List.of(statuses), null, 1);
  }

  @Test
  void fields_areListsOfStringsWithParameters() {
    Answer answer =
        answer(
            status(policy("burst", 100, Duration.ofMinutes(1)), 50, Reason.WITHIN_LIMIT, 0),
            status(policy("daily", 1000, Duration.ofDays(1)), 999, Reason.WITHIN_LIMIT, 0));
    List<Standing> standings = Standing.of(answer);
    assertThat(RateLimitFields.rateLimitPolicy(standings))
        .isEqualTo("\"burst\";q=100;w=60, \"daily\";q=1000;w=86400");
    assertThat(RateLimitFields.rateLimit(standings))
        .isEqualTo("\"burst\";r=50;t=40, \"daily\";r=999;t=40");
  }

  @Test
  void limitAtTheSameTime_hasItsUnitInPlaceOfAWindow() {
    Policy seats = Policy.concurrency(5, Duration.ofMinutes(1)).name("exports").build();
    List<Standing> standings = Standing.of(answer(status(seats, 4, Reason.WITHIN_LIMIT, 0)));
    assertThat(RateLimitFields.rateLimitPolicy(standings))
        .isEqualTo("\"exports\";q=5;qu=\"concurrent-requests\"");
    assertThat(RateLimitFields.rateLimit(standings)).isEqualTo("\"exports\";r=4;t=40");
  }

  @Test
  void names_areEscapedToPrintableAscii() {
    Policy odd = policy("a\"b\\c\r\n\u00e9", 1, Duration.ofMillis(1_500));
    List<Standing> standings = Standing.of(answer(status(odd, 1, Reason.WITHIN_LIMIT, 0)));
    assertThat(RateLimitFields.rateLimitPolicy(standings))
        .as("no window where it is not whole seconds")
        .isEqualTo("\"a\\\"b\\\\c%0D%0A%C3%A9\";q=1");
  }

  @Test
  void refusal_roundsUpAndIsNotEarlierThanAnyTime() {
    Answer answer =
        answer(
            status(policy("a", 5, Duration.ofMinutes(1)), 0, Reason.OVER_LIMIT, 6 * SECOND + 1),
            status(policy("b", 5, Duration.ofMinutes(1)), 0, Reason.OVER_LIMIT, 1),
            status(policy("c", 5, Duration.ofMinutes(1)), 4, Reason.WITHIN_LIMIT, 0));
    CheckAnswer check = new CheckAnswer(Request.of("d", "k", "v"), answer);
    assertThat(RateLimitFields.rateLimit(check.standings()))
        .isEqualTo("\"a\";r=0;t=7, \"b\";r=0;t=1, \"c\";r=4");
    assertThat(check.retryAfterSeconds()).isEqualTo(7);
    assertThat(check.httpStatus()).isEqualTo(429);
    assertThat(new String(check.json(), StandardCharsets.UTF_8))
        .contains("\"violated-policies\":[\"a\",\"b\"]", "\"retry-after-ms\":6001");
  }

  @Test
  void severalStandingsOfOnePolicy_becomeTheTightest() {
    Policy policy = policy("p", 5, Duration.ofMinutes(1));
    Answer answer =
        answer(
            status(policy, 4, Reason.WITHIN_LIMIT, 0), status(policy, 2, Reason.WITHIN_LIMIT, 0));
    assertThat(RateLimitFields.rateLimit(Standing.of(answer))).isEqualTo("\"p\";r=2;t=40");
  }

  @Test
  void manyPolicies_areCutWithTheRefusingOnesFirst() {
    List<Status> statuses = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      statuses.add(status(policy("p" + i, 5, Duration.ofHours(1)), 4, Reason.WITHIN_LIMIT, 0));
    }
    statuses.add(status(policy("last", 5, Duration.ofHours(1)), 0, Reason.OVER_LIMIT, SECOND));
    List<Standing> standings = Standing.of(answer(statuses.toArray(new Status[0])));
    assertThat(standings).hasSize(Standing.MAX_MEMBERS);
    assertThat(standings.get(0).policy().name()).isEqualTo("last");
  }

  @Test
  void doubt_isAnotherAnswerThanTooFast() {
    Policy policy = policy("p", 5, Duration.ofMinutes(1));
    for (Reason reason : new Reason[] {Reason.UNCERTAIN, Reason.OVERLOADED}) {
      CheckAnswer check =
          new CheckAnswer(Request.of("d", "k", "v"), answer(status(policy, 0, reason, 2 * SECOND)));
      assertThat(check.httpStatus()).isEqualTo(503);
      assertThat(check.retryAfterSeconds()).isEqualTo(2);
      assertThat(new String(check.json(), StandardCharsets.UTF_8))
          .contains(
              "\"type\":\"https://iana.org/assignments/http-problem-types"
                  + "#temporary-reduced-capacity\"",
              "\"status\":503",
              "\"reason\":\"" + reason + "\"");
    }
    CheckAnswer both =
        new CheckAnswer(
            Request.of("d", "k", "v"),
            answer(
                status(policy, 0, Reason.UNCERTAIN, SECOND),
                status(policy, 0, Reason.OVER_LIMIT, SECOND)));
    assertThat(both.httpStatus()).as("one quota is exceeded beyond doubt").isEqualTo(429);
  }

  @Test
  void olderFields_tellTheDecidingLimit() {
    Answer answer =
        answer(
            status(policy("wide", 100, Duration.ofMinutes(1)), 50, Reason.WITHIN_LIMIT, 0),
            status(policy("tight", 10, Duration.ofMinutes(1)), 3, Reason.WITHIN_LIMIT, 0));
    assertThat(older(OlderFields.NONE, answer)).isEmpty();
    assertThat(older(OlderFields.RATELIMIT, answer).get("RateLimit-Limit")).isEqualTo("10");
    assertThat(older(OlderFields.RATELIMIT, answer).get("RateLimit-Remaining")).isEqualTo("3");
    assertThat(older(OlderFields.RATELIMIT, answer).get("RateLimit-Reset")).isEqualTo("40");
    assertThat(older(OlderFields.ENVOY, answer).get("X-RateLimit-Limit")).isEqualTo("10, 10;w=60");
    assertThat(older(OlderFields.GITHUB, answer).get("X-RateLimit-Reset")).isEqualTo("1700000040");
  }

  /** Fields of services of language models: those of requests beside those of tokens. */
  @Test
  void openai_tellsTheTightestLimitOfEachKind() {
    Answer answer =
        answer(
            status(policy("wide", 100, Duration.ofMinutes(1)), 50, Reason.WITHIN_LIMIT, 0),
            status(policy("tight", 10, Duration.ofMinutes(1)), 3, Reason.WITHIN_LIMIT, 0),
            status(policy("d.Tokens", 900, Duration.ofDays(1)), 0, Reason.OVER_LIMIT, 1),
            status(policy("tokens2", 900, Duration.ofDays(1)), 0, Reason.WITHIN_LIMIT, 0));
    assertThat(older(OlderFields.OPENAI, answer))
        .isEqualTo(
            Map.of(
                "x-ratelimit-limit-requests", "10",
                "x-ratelimit-remaining-requests", "3",
                "x-ratelimit-reset-requests", "40s",
                "x-ratelimit-limit-tokens", "900",
                "x-ratelimit-remaining-tokens", "0",
                "x-ratelimit-reset-tokens", "40s"));
    assertThat(OlderFields.OPENAI.names())
        .containsExactlyInAnyOrderElementsOf(older(OlderFields.OPENAI, answer).keySet());
    Answer one = answer(status(policy("p", 5, Duration.ofDays(1)), 0, Reason.OVER_LIMIT, SECOND));
    assertThat(older(OlderFields.OPENAI, one)).doesNotContainKey("x-ratelimit-limit-tokens");
  }

  @ParameterizedTest
  @CsvSource({"1, 1s", "59, 59s", "60, 1m0s", "63, 1m3s", "3599, 59m59s", "3600, 1h0m0s"})
  void openai_writesTimesInWholeUnits(long seconds, String text) {
    Policy policy = policy("p", 5, Duration.ofDays(1));
    Decision decision = new Decision(true, Reason.WITHIN_LIMIT, "p", 5, 1, 0, seconds * SECOND, 0);
    CurrentLimit limit = new CurrentLimit(5, RateLimitUnit.DAY, "", policy);
    Answer answer = answer(new Status(true, null, decision, limit, 1, seconds));
    assertThat(older(OlderFields.OPENAI, answer)).containsEntry("x-ratelimit-reset-requests", text);
  }

  /** The message of this member is the only text that clients of language models show. */
  @Test
  void refusalForClientsOfModels_hasAnError_andIsElseTheSame() {
    Policy policy = policy("tokens", 5, Duration.ofMinutes(1));
    Request request = Request.of("d", "k", "v");
    Answer over = answer(status(policy, 0, Reason.OVER_LIMIT, 2 * SECOND));
    String detail = new CheckAnswer(request, over).detail();
    String error =
        "\"error\":{\"type\":\"rate_limit_error\",\"code\":\"rate_limit_exceeded\",\"param\":null,"
            + "\"message\":\""
            + detail
            + "\"},";
    String body =
        new String(
            new CheckAnswer(request, over, OlderFields.OPENAI).json(), StandardCharsets.UTF_8);
    assertThat(body).contains("\"detail\":\"" + detail + "\"," + error);
    assertThat(body.replace(error, ""))
        .isEqualTo(new String(new CheckAnswer(request, over).json(), StandardCharsets.UTF_8));
    Answer away = answer(status(policy, 0, Reason.UNCERTAIN, SECOND));
    assertThat(
            new String(
                new CheckAnswer(request, away, OlderFields.OPENAI).json(), StandardCharsets.UTF_8))
        .contains("\"type\":\"server_error\",\"code\":\"unavailable\"");
    Answer passes = answer(status(policy, 3, Reason.WITHIN_LIMIT, 0));
    assertThat(
            new String(
                new CheckAnswer(request, passes, OlderFields.OPENAI).json(),
                StandardCharsets.UTF_8))
        .doesNotContain("error");
  }

  private static Map<String, String> older(OlderFields form, Answer answer) {
    return older(form, answer, 1_700_000_000 * SECOND);
  }

  private static Map<String, String> older(OlderFields form, Answer answer, long nowNanos) {
    Map<String, String> headers = new HashMap<>();
    form.add(answer, nowNanos, headers::put);
    return headers;
  }

  /** A client that waits until a reset, or for a duration, is never refused for being too early. */
  @Test
  void timesOfARefusal_areNeverEarlierThanThePermit_norASecondLater() {
    int runs = 2_000;
    SplittableRandom random = Trials.random("times of a refusal", runs);
    Policy policy = policy("p", 5, Duration.ofMinutes(1));
    for (int i = 0; i < runs; i++) {
      long now = 1_700_000_000 * SECOND + random.nextLong(10 * SECOND);
      long wait =
          random.nextBoolean() ? random.nextLong(1, 60 * SECOND) : random.nextLong(1, 60) * SECOND;
      Answer answer = answer(status(policy, 0, Reason.OVER_LIMIT, wait));
      String reset = older(OlderFields.GITHUB, answer, now).get("X-RateLimit-Reset");
      assertThat(Long.parseLong(reset) * SECOND)
          .isGreaterThanOrEqualTo(now + wait)
          .isLessThan(now + wait + SECOND);
      long retryAfter = new CheckAnswer(Request.of("d", "k", "v"), answer).retryAfterSeconds();
      assertThat(retryAfter * SECOND).isGreaterThanOrEqualTo(wait).isLessThan(wait + SECOND);
    }
  }
}
