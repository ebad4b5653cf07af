package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.LoadSignal;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Rules that are not hard. */
class ThrottledRulesTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: soft
          rate_limit: {unit: minute, requests_per_unit: 4, throttle: {soft: 50%}}
        - key: elastic
          rate_limit: {unit: minute, requests_per_unit: 2, throttle: {elastic: 60%}}
        - key: hard
          rate_limit: {unit: minute, requests_per_unit: 3}
        - key: watched
          shadow_mode: true
          rate_limit: {unit: minute, requests_per_unit: 1, throttle: elastic}
        - key: either
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 1, throttle: elastic}
      """;

  private double load;
  private final Engine engine = engine(() -> load);

  private static Engine engine(LoadSignal signal) {
    Engine engine = Engine.builder(new MemoryStore()).ticker(new FakeTicker()).load(signal).build();
    engine.apply(Fixture.rules(RULES));
    return engine;
  }

  private Answer request(String... keys) {
    List<Descriptor> descriptors = new ArrayList<>();
    for (String key : keys) {
      descriptors.add(Descriptor.of(key, "a"));
    }
    return engine.decide(new Request("d", descriptors, 1));
  }

  private static Decision decision(Answer answer, int i) {
    return Objects.requireNonNull(answer.statuses().get(i).decision());
  }

  private RuleMetrics metrics(String path) {
    return engine.metrics().rules().stream()
        .filter(each -> each.path().equals(path))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void softRule_holdsItsBound_andReportsItsLimit() {
    for (int i = 1; i <= 7; i++) {
      Answer answer = request("soft");
      assertThat(answer.allowed()).isEqualTo(i <= 6);
      Decision decision = decision(answer, 0);
      assertThat(decision.limit()).isEqualTo(4);
      assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(Math.max(0, 4 - i));
      assertThat(decision.reason())
          .isEqualTo(i <= 4 ? Reason.WITHIN_LIMIT : i <= 6 ? Reason.TOLERATED : Reason.OVER_LIMIT);
    }
    assertThat(metrics("d.soft"))
        .isEqualTo(new RuleMetrics("d.soft", "d.soft", 4, 2, 1, 0, 0, 0, 1, 0));
  }

  @Test
  void elasticRule_refusesNothingInIdleTimes_andIsHardUnderLoad() {
    load = 0.5;
    for (int i = 0; i < 5; i++) {
      assertThat(request("elastic").allowed()).isTrue();
    }
    assertThat(decision(request("elastic"), 0).reason()).isEqualTo(Reason.TOLERATED);
    load = 0.6;
    Answer refused = request("elastic");
    assertThat(refused.allowed()).isFalse();
    assertThat(decision(refused, 0).reason()).isEqualTo(Reason.OVER_LIMIT);
    load = Double.NaN;
    assertThat(request("elastic").allowed()).isFalse();
    assertThat(metrics("d.elastic"))
        .isEqualTo(new RuleMetrics("d.elastic", "d.elastic", 2, 4, 2, 0, 0, 0, 1, 0));
  }

  @Test
  void elasticRuleInIdleTimes_doesNotKeepAnotherFromRefusing_andIsNotChargedThen() {
    load = 0;
    for (int i = 0; i < 3; i++) {
      assertThat(request("elastic", "hard").allowed()).isTrue();
    }
    Answer refused = request("elastic", "hard");
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.statuses()).extracting(Status::allowed).containsExactly(true, false);
    assertThat(metrics("d.elastic").tolerated()).isEqualTo(1);
    load = 1;
    assertThat(request("elastic").allowed()).isFalse();
  }

  @Test
  void elasticRuleInQuotaMode_refusesNothingInIdleTimes() {
    load = 1;
    assertThat(request("either").allowed()).isTrue();
    assertThat(request("either").allowed()).isFalse();
    load = 0;
    assertThat(decision(request("either"), 0).reason()).isEqualTo(Reason.TOLERATED);
  }

  @Test
  void elasticRuleInShadowMode_marksNothingInIdleTimes() {
    load = 0;
    request("watched");
    assertThat(decision(request("watched"), 0).reason()).isEqualTo(Reason.TOLERATED);
    load = 1;
    assertThat(decision(request("watched"), 0).reason()).isEqualTo(Reason.SHADOW);
  }

  @Test
  void manyAtTheirOwnTimes_eachHaveTheirOwnLoad() {
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      requests.add(Request.of("d", "elastic", "a"));
    }
    List<Answer> answers = new ArrayList<>();
    engine.decideAllAt(requests, new long[5], new double[] {0, 1, 0.9, 0.1, 0.6}, answers::add);
    assertThat(answers).extracting(Answer::allowed).containsExactly(true, true, false, true, false);
  }

  @Test
  void changeOfTheThrottle_keepsWhatWasAdmitted() {
    String soft = RULES;
    String hard = RULES.replace("throttle: {soft: 50%}", "throttle: hard");
    for (int i = 0; i < 5; i++) {
      assertThat(request("soft").allowed()).isTrue();
    }
    engine.apply(Fixture.rules(hard));
    assertThat(request("soft").allowed()).isFalse();
    engine.apply(Fixture.rules(soft));
    assertThat(decision(request("soft"), 0).reason()).isEqualTo(Reason.TOLERATED);
    assertThat(request("soft").allowed()).isFalse();
  }

  @Test
  void engineThatKnowsNoLoad_isHard() {
    Engine deaf = engine(LoadSignal.UNKNOWN);
    List<Boolean> allowed = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      allowed.add(deaf.decide(Request.of("d", "elastic", "a")).allowed());
    }
    assertThat(allowed).containsExactly(true, true, false);
  }
}
