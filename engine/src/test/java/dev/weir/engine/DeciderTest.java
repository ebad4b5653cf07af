package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of {@link Decider#peek} and {@link Decider#refund} of an engine. */
class DeciderTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit: {window: 1s, requests_per_unit: 2}
        - key: ip
          rate_limit: {window: 1s, requests_per_unit: 3}
        - key: soft
          rate_limit: {window: 1s, requests_per_unit: 10, throttle: {soft: 20%}}
        - key: shadow
          shadow_mode: true
          rate_limit: {window: 1s, requests_per_unit: 1}
      """;

  private static final Request USER = Request.of("d", "user", "a");

  private final Fixture fixture = new Fixture(RULES);
  private final Engine engine = fixture.engine;

  private Answer peek(Request request) {
    List<Answer> answers = new ArrayList<>();
    engine.peek(request, answers::add);
    assertThat(answers).hasSize(1);
    return answers.get(0);
  }

  private long refund(Request request, Answer answer) {
    List<Long> given = new ArrayList<>();
    engine.refund(request, answer, given::add);
    assertThat(given).hasSize(1);
    return given.get(0);
  }

  private static Request both(long permits) {
    return new Request("d", List.of(Descriptor.of("user", "a"), Descriptor.of("ip", "x")), permits);
  }

  @Test
  void peek_saysWhatDecideWould_andNeitherChargesNorCounts() {
    assertThat(peek(USER).allowed()).isTrue();
    assertThat(peek(both(3)).allowed()).isFalse();
    assertThat(peek(USER).statuses().get(0).limitRemaining()).isEqualTo(2);
    EngineMetrics metrics = engine.metrics();
    assertThat(metrics.requests()).isZero();
    assertThat(metrics.rules().stream().mapToLong(RuleMetrics::totalHits).sum()).isZero();
    engine.decide(both(2));
    assertThat(peek(USER).allowed()).isFalse();
    assertThat(peek(Request.of("", "user", "a")).error()).isNotNull();
  }

  @Test
  void refund_givesBackWhatEveryDescriptorWasCharged() {
    Answer answer = engine.decide(both(2));
    assertThat(answer.allowed()).isTrue();
    assertThat(refund(both(2), answer)).isEqualTo(4);
    assertThat(engine.decide(both(2)).allowed()).isTrue();
  }

  @Test
  void refundOfARefusal_givesNothing() {
    engine.decide(both(2));
    Answer refused = engine.decide(both(2));
    assertThat(refund(both(2), refused)).isZero();
    assertThat(peek(USER).allowed()).isFalse();
  }

  @Test
  void refundOfAnError_givesNothing() {
    Request wrong = Request.of("", "user", "a");
    assertThat(refund(wrong, engine.decide(wrong))).isZero();
  }

  @Test
  void windowIsOver_refundGivesNothing() {
    Answer answer = engine.decide(both(2));
    fixture.ticker.advance(Duration.ofSeconds(10));
    assertThat(refund(both(2), answer)).isZero();
  }

  @Test
  void limitHasChanged_refundGivesNothingOfIt() {
    Answer answer = engine.decide(both(2));
    engine.apply(Fixture.rules(RULES.replace("requests_per_unit: 2}", "requests_per_unit: 1}")));
    assertThat(refund(both(2), answer)).as("of ip alone").isEqualTo(2);
  }

  @Test
  void sameRulesAgain_refundGivesAll() {
    Answer answer = engine.decide(both(2));
    engine.apply(Fixture.rules(RULES + "\n"));
    assertThat(refund(both(2), answer)).isEqualTo(4);
  }

  @Test
  void toleratedPermits_areGivenBackAsWell() {
    Request soft = new Request("d", List.of(Descriptor.of("soft", "x")), 6);
    Answer first = engine.decide(soft);
    Answer tolerated = engine.decide(soft);
    assertThat(tolerated.allowed()).isTrue();
    assertThat(engine.decide(soft).allowed()).isFalse();
    assertThat(refund(soft, tolerated)).isEqualTo(6);
    assertThat(refund(soft, first)).isEqualTo(6);
    assertThat(engine.decide(new Request("d", soft.descriptors(), 12)).allowed()).isTrue();
  }

  @Test
  void shadowRefusal_wasNotChargedAndGivesNothing() {
    Request shadow = Request.of("d", "shadow", "x");
    assertThat(refund(shadow, engine.decide(shadow))).isEqualTo(1);
    engine.decide(shadow);
    Answer shadowed = engine.decide(shadow);
    assertThat(shadowed.allowed()).isTrue();
    assertThat(refund(shadow, shadowed)).isZero();
  }

  @Test
  void engineOnlyWatches_refundGivesNothing() {
    Fixture watching =
        new Fixture(RULES, new EngineSettings(true, 80, 128, 32, 4096, 1_000), new MemoryStore());
    watching.engine.decide(both(2));
    Answer shadowed = watching.engine.decide(both(2));
    assertThat(shadowed.allowed()).isTrue();
    List<Long> given = new ArrayList<>();
    watching.engine.refund(both(2), shadowed, given::add);
    assertThat(given).containsExactly(0L);
  }
}
