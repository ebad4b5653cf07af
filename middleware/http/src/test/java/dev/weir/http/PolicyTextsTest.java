package dev.weir.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Ticker;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.protocol.http.OlderFields;
import dev.weir.protocol.http.RateLimitFields;
import dev.weir.protocol.http.RetryFields;
import dev.weir.protocol.http.Standing;
import dev.weir.rules.RateLimitUnit;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests that the texts kept of earlier answers do not appear in later ones. */
class PolicyTextsTest {
  private static final int ANSWERS = 20_000;
  private static final long SECOND = 1_000_000_000L;

  /** Policies of which two have one name, and one has a name that is escaped. */
  private static final List<Policy> POLICIES =
      List.of(policy("a", 5), policy("b", 7), policy("a", 9), policy("c\"d", 4_000_000_000L));

  private static Policy policy(String name, long permits) {
    return Policy.builder(Quota.of(permits, Duration.ofMinutes(1))).name(name).build();
  }

  private static Status status(SplittableRandom random, Policy policy) {
    int kind = random.nextInt(8);
    if (kind == 0) {
      return new Status(true, null, null, null, 0, 0);
    }
    boolean refused = kind == 1;
    long remaining = random.nextBoolean() ? policy.burst() : random.nextInt(5);
    long resetNanos = random.nextInt(3) * SECOND;
    Decision decision =
        new Decision(
            !refused,
            refused ? Reason.OVER_LIMIT : Reason.WITHIN_LIMIT,
            policy.name(),
            policy.burst(),
            remaining,
            refused ? 1 + random.nextInt(3) * SECOND : 0,
            resetNanos,
            0);
    CurrentLimit limit = new CurrentLimit(policy.burst(), RateLimitUnit.MINUTE, "", policy);
    return new Status(!refused, null, decision, limit, remaining, Math.max(1, resetNanos / SECOND));
  }

  /**
   * Returns a random answer: answers of the same policies differ in what is limited and refused.
   */
  private static Answer answer(SplittableRandom random, List<Policy> policies) {
    List<Status> statuses = policies.stream().map(each -> status(random, each)).toList();
    // A rule in quota mode may refuse although the whole request passes.
    boolean allowed = random.nextBoolean() || statuses.stream().allMatch(Status::allowed);
    return Answer.of(allowed, statuses, null, 1);
  }

  private static List<Policy> policies(SplittableRandom random) {
    int size = random.nextInt(10) == 0 ? Standing.MAX_MEMBERS + 1 : random.nextInt(4);
    return IntStream.range(0, size)
        .mapToObj(i -> POLICIES.get(random.nextInt(POLICIES.size())))
        .toList();
  }

  private static Map<String, String> expected(Answer answer) {
    List<Standing> standings = Standing.of(answer);
    Map<String, String> fields = new LinkedHashMap<>();
    if (!standings.isEmpty()) {
      fields.put("RateLimit-Policy", RateLimitFields.rateLimitPolicy(standings));
      fields.put("RateLimit", RateLimitFields.rateLimit(standings));
    }
    return fields;
  }

  @Test
  void answersInAnyOrder_haveTheFieldsOfTheirStandings() {
    SplittableRandom random = Trials.random("answers in any order", ANSWERS);
    RefusalStyle style =
        new RefusalStyle(OlderFields.NONE, RetryFields.EXACT, true, Set.of(), Ticker.system());
    List<Policy> policies = List.of();
    for (int i = 0; i < ANSWERS; i++) {
      if (i % 10 == 0) {
        policies = policies(random);
      }
      Answer answer = answer(random, policies);
      Map<String, String> fields = new LinkedHashMap<>();
      style.standing(answer, fields::put);
      assertThat(fields).as("%s", answer).isEqualTo(expected(answer));
    }
  }
}
