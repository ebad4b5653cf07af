package dev.weir.engine.internal.matching;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Binding;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.engine.FakeRecords;
import dev.weir.engine.Fixture;
import dev.weir.engine.ResetResult;
import dev.weir.engine.SubjectSettings;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.testkit.LateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests of {@link Engine#reset}. */
class ResetTest {
  private static final String RULES =
      """
      domain: d
      plans:
        gold: {user-rule: {requests_per_unit: 5}}
      descriptors:
        - key: user
          rate_limit: {name: user-rule, window: 1s, requests_per_unit: 2, by: user}
        - key: ip
          rate_limit: {window: 1s, requests_per_unit: 1}
        - key: free
          rate_limit: {unlimited: true}
      """;

  private static final Request USER = Request.of("d", "user", "a");

  private static List<ResetResult> reset(Engine engine, Request request) {
    List<ResetResult> forgotten = new ArrayList<>();
    engine.reset(request, forgotten::add);
    return forgotten;
  }

  @Test
  void severalDescriptors_areForgottenEachForItself() {
    Engine engine = new Fixture(RULES).engine;
    Request three =
        new Request(
            "d",
            List.of(
                Descriptor.of("user", "a"),
                Descriptor.of("free", "x"),
                Descriptor.of("nothing", "x"),
                Descriptor.of("ip", "1")),
            1);
    assertThat(engine.decide(USER).allowed()).isTrue();
    assertThat(engine.decide(USER).allowed()).isTrue();
    assertThat(engine.decide(Request.of("d", "user", "b")).allowed()).isTrue();
    assertThat(engine.decide(USER).allowed()).isFalse();
    assertThat(reset(engine, three))
        .containsExactly(
            new ResetResult(
                List.of(
                    ResetResult.Key.FORGOTTEN,
                    ResetResult.Key.NO_LIMIT,
                    ResetResult.Key.NO_LIMIT,
                    ResetResult.Key.UNUSED),
                1,
                null));
    assertThat(engine.decide(USER).statuses().get(0).limitRemaining()).isEqualTo(1);
    assertThat(engine.decide(Request.of("d", "user", "b")).statuses().get(0).limitRemaining())
        .isZero();
    assertThat(engine.resets()).isEqualTo(1);
  }

  @Test
  void keyUnderAPlansNumber_isForgotten() {
    FakeRecords records = new FakeRecords();
    records.put("a", FakeRecords.plan("gold"));
    Engine engine =
        Engine.builder(new MemoryStore())
            .ticker(new Fixture(RULES).ticker)
            .subjects(records, SubjectSettings.DEFAULTS)
            .build();
    engine.apply(Fixture.rules(RULES));
    for (int i = 0; i < 5; i++) {
      assertThat(engine.decide(USER).allowed()).isTrue();
    }
    assertThat(engine.decide(USER).allowed()).isFalse();
    assertThat(reset(engine, USER).get(0).keys()).containsExactly(ResetResult.Key.FORGOTTEN);
    assertThat(engine.decide(USER).statuses().get(0).limitRemaining()).isEqualTo(4);
  }

  @Test
  void unknownDomain_hasNothingToForget() {
    Engine engine = new Fixture(RULES).engine;
    assertThat(reset(engine, Request.of("other", "user", "a")).get(0).keys())
        .containsExactly(ResetResult.Key.NO_LIMIT);
  }

  @Test
  void requestWithoutDomain_isAProblem() {
    Engine engine = new Fixture(RULES).engine;
    assertThat(reset(engine, Request.of("", "user", "a")).get(0).problem())
        .isEqualTo("rate limit domain must not be empty");
  }

  @Test
  void storeThatCannotForget_isSaidForEachKey() {
    ForwardingStore<MemoryStore> keeps =
        new ForwardingStore<>(new MemoryStore()) {
          @Override
          public void reset(
              Binding binding, long fingerprint, long nowNanos, Consumer<? super Boolean> done) {
            throw new UnsupportedOperationException("reset");
          }
        };
    Engine engine = new Fixture(RULES, EngineSettings.DEFAULTS, keeps).engine;
    Request both =
        new Request("d", List.of(Descriptor.of("user", "a"), Descriptor.of("ip", "1")), 1);
    assertThat(reset(engine, both).get(0).keys())
        .containsExactly(ResetResult.Key.FAILED, ResetResult.Key.FAILED);
  }

  @Test
  void storeThatAnswersLater_isWaitedFor() {
    LateStore late = new LateStore();
    Engine engine = new Fixture(RULES, EngineSettings.DEFAULTS, late).engine;
    Request both =
        new Request("d", List.of(Descriptor.of("user", "a"), Descriptor.of("ip", "1")), 1);
    engine.decide(both, answer -> assertThat(answer.allowed()).isTrue());
    assertThat(late.answer()).isEqualTo(1);
    List<ResetResult> forgotten = reset(engine, both);
    assertThat(forgotten).isEmpty();
    assertThat(late.answer()).isEqualTo(1);
    assertThat(forgotten).isEmpty();
    assertThat(late.answer()).isEqualTo(1);
    assertThat(forgotten.get(0).keys())
        .containsExactly(ResetResult.Key.FORGOTTEN, ResetResult.Key.FORGOTTEN);
  }
}
