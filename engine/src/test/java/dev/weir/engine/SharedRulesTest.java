package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.Problem;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Rules that are counted in this process beside rules that are counted in a shared store. */
class SharedRulesTest {
  private static final String RULES =
      """
      domain: d
      descriptors:
        - key: here
          rate_limit: {unit: minute, requests_per_unit: 3, store: local}
        - key: here2
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, store: local}
        - key: deny
          rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
        - key: allow
          rate_limit: {unit: minute, requests_per_unit: 3, on_failure: allow}
        - key: share
          rate_limit: {unit: minute, requests_per_unit: 4, on_failure: local, local_share: 50%}
        - key: quotaDeny
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
        - key: quotaAllow
          quota_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, on_failure: allow}
        - key: shadow
          shadow_mode: true
          rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
        - key: free
          rate_limit: {unlimited: true}
      """;

  private final List<String> asked = new ArrayList<>();

  private Fixture away() {
    return fixture(RoutedStore.of(new MemoryStore(), new UncertainStore(asked)));
  }

  private static Fixture fixture(Store store) {
    return new Fixture(RULES, EngineSettings.DEFAULTS, store);
  }

  private static Request request(long permits, String... keys) {
    List<Descriptor> descriptors = List.of(keys).stream().map(k -> Descriptor.of(k, "x")).toList();
    return new Request("d", descriptors, permits);
  }

  private static List<Boolean> allowed(Answer answer) {
    return answer.statuses().stream().map(Status::allowed).toList();
  }

  private static List<Reason> reasons(Answer answer) {
    return answer.statuses().stream()
        .map(each -> Objects.requireNonNull(each.decision()).reason())
        .toList();
  }

  private static long left(Fixture fixture, String key) {
    Descriptor look = new Descriptor(Descriptor.of(key, "x").entries(), null, 0L);
    return fixture
        .engine
        .decide(new Request("d", List.of(look), 1))
        .statuses()
        .get(0)
        .limitRemaining();
  }

  @Test
  void ruleThatDenies_storeAway_isRefusedAsUncertain_andNothingStaysChargedHere() {
    Fixture fixture = away();
    for (int i = 0; i < 10; i++) {
      Answer answer = fixture.engine.decide(request(2, "here", "deny", "allow", "share", "here2"));
      assertThat(answer.allowed()).isFalse();
      assertThat(allowed(answer)).containsExactly(true, false, true, true, true);
      assertThat(reasons(answer))
          .containsExactly(
              Reason.WITHIN_LIMIT,
              Reason.UNCERTAIN,
              Reason.UNCERTAIN,
              Reason.WITHIN_LIMIT,
              Reason.WITHIN_LIMIT);
      assertThat(answer.statuses().get(0).limitRemaining()).isEqualTo(3);
      assertThat(Objects.requireNonNull(answer.deciding()).rule())
          .isSameAs(answer.statuses().get(1).rule());
      assertThat(answer.cause()).isEqualTo(UncertainStore.CAUSE);
      assertThat(answer.statuses())
          .extracting(Status::cause)
          .containsExactly("", UncertainStore.CAUSE, UncertainStore.CAUSE, "", "");
    }
    assertThat(left(fixture, "here")).isEqualTo(3);
    assertThat(left(fixture, "here2")).isEqualTo(3);
    assertThat(asked).hasSize(10).containsOnly("charge 3");
    assertThat(fixture.engine.metrics().uncertain()).isEqualTo(20);
    assertThat(fixture.engine.metrics().denied()).isEqualTo(10);
    assertThat(metrics(fixture, "d.deny"))
        .isEqualTo(new RuleMetrics("d.deny", "d.deny", 0, 0, 0, 0, 0, 20, 0, 0));
    assertThat(metrics(fixture, "d.allow"))
        .isEqualTo(new RuleMetrics("d.allow", "d.allow", 0, 0, 0, 0, 0, 20, 0, 0));
  }

  private static RuleMetrics metrics(Fixture fixture, String path) {
    return fixture.engine.metrics().rules().stream()
        .filter(each -> each.path().equals(path))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void requestOfOneDescriptor_storeAway_hasTheCause_andTheNextOneNone() {
    Fixture fixture = away();
    for (String key : List.of("deny", "allow")) {
      Answer answer = fixture.engine.decide(request(1, key));
      assertThat(answer.allowed()).isEqualTo(key.equals("allow"));
      assertThat(answer.reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(answer.cause()).isEqualTo(UncertainStore.CAUSE);
      assertThat(answer.statuses().get(0).cause()).isEqualTo(UncertainStore.CAUSE);
      assertThat(fixture.engine.decide(request(1, "share")).cause()).isEmpty();
    }
    assertThat(fixture.engine.decide(request(4, "here")).cause()).isEmpty();
  }

  @Test
  void rulesThatAllowOrDecideByTheirShare_storeAway_passAndAreAskedOnce() {
    Fixture fixture = away();
    Answer answer = fixture.engine.decide(request(2, "here", "allow", "share", "shadow", "free"));
    assertThat(answer.allowed()).isTrue();
    assertThat(allowed(answer)).containsOnly(true);
    Decision allowed = Objects.requireNonNull(answer.statuses().get(1).decision());
    assertThat(allowed.allowed()).isTrue();
    assertThat(allowed.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(allowed.retryAfterNanos()).isZero();
    assertThat(answer.cause()).isEqualTo(UncertainStore.CAUSE);
    assertThat(answer.statuses())
        .extracting(Status::cause)
        .containsExactly("", UncertainStore.CAUSE, "", "", "");
    assertThat(Objects.requireNonNull(answer.statuses().get(3).decision()).reason())
        .isEqualTo(Reason.SHADOW);
    assertThat(left(fixture, "here")).isEqualTo(1);
    assertThat(asked).containsExactly("charge 3");
  }

  @Test
  void shareUsedUp_refuses_andGivesBackHere() {
    Fixture fixture = away();
    Answer answer = fixture.engine.decide(request(3, "here", "share", "allow"));
    assertThat(allowed(answer)).containsExactly(true, false, true);
    assertThat(reasons(answer))
        .containsExactly(Reason.WITHIN_LIMIT, Reason.OVER_LIMIT, Reason.UNCERTAIN);
    assertThat(left(fixture, "here")).isEqualTo(3);
  }

  @Test
  void quotaMode_onePassesWhereverItLies() {
    Fixture fixture = away();
    assertThat(fixture.engine.decide(request(3, "here2", "quotaDeny")).allowed()).isTrue();
    assertThat(fixture.engine.decide(request(1, "here2", "quotaDeny")).allowed()).isFalse();
    assertThat(fixture.engine.decide(request(1, "here2", "quotaAllow")).allowed()).isTrue();
    assertThat(fixture.engine.decide(request(1, "quotaDeny")).allowed()).isFalse();
    assertThat(fixture.engine.decide(request(1, "quotaDeny", "quotaAllow")).allowed()).isTrue();
  }

  @Test
  void refusedHere_theSharedStoreIsOnlyPeekedAt() {
    Fixture fixture = away();
    assertThat(allowed(fixture.engine.decide(request(9, "here", "allow"))))
        .containsExactly(false, true);
    assertThat(asked).containsExactly("peek 1");
  }

  @Test
  void noRoomHereForARuleThatAllows_isForgivenAsEver() {
    Fixture fixture =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: here
                rate_limit: {unit: minute, requests_per_unit: 3, store: local, on_failure: allow}
              - key: there
                rate_limit: {unit: minute, requests_per_unit: 3}
            """,
            EngineSettings.DEFAULTS,
            RoutedStore.of(new MemoryStore(1), new MemoryStore()));
    fixture.engine.decide(Request.of("d", "here", "first"));
    Answer answer = fixture.engine.decide(request(2, "here", "there"));
    assertThat(answer.allowed()).isTrue();
    assertThat(reasons(answer)).containsExactly(Reason.KEY_SPACE_FULL, Reason.WITHIN_LIMIT);
    assertThat(left(fixture, "there")).isEqualTo(1);
    assertThat(fixture.engine.metrics().keySpaceFull()).isEqualTo(1);
  }

  @Test
  void overload_isAnsweredAsPoliciesSay_andAShareIsNoAnswer() {
    Fixture fixture = away();
    assertThat(passesUndecided(fixture, "allow", "free", "shadow")).isTrue();
    assertThat(passesUndecided(fixture, "allow", "share")).isFalse();
    assertThat(passesUndecided(fixture, "deny")).isFalse();
    assertThat(passesUndecided(fixture, "quotaDeny", "quotaAllow")).isTrue();
    assertThat(passesUndecided(fixture, "quotaDeny", "here2")).isFalse();
    assertThat(passesUndecided(fixture, "quotaAllow", "deny")).isFalse();
    assertThat(asked).isEmpty();
    assertThat(fixture.engine.metrics().overloaded()).isEqualTo(6);
  }

  private static boolean passesUndecided(Fixture fixture, String... keys) {
    List<Answer> answers = new ArrayList<>();
    fixture.engine.refuse(request(1, keys), answers::add);
    assertThat(answers).hasSize(1);
    return answers.get(0).allowed();
  }

  @Test
  void overrideInARequest_isCountedInTheDefaultStore() {
    MemoryStore local = new MemoryStore();
    Fixture fixture = fixture(RoutedStore.of(local, new MemoryStore()));
    Descriptor own =
        new Descriptor(
            Descriptor.of("here", "x").entries(), new LimitOverride(1, RateLimitUnit.DAY), null);
    Request request = new Request("d", List.of(own), 1);
    assertThat(fixture.engine.decide(request).allowed()).isTrue();
    assertThat(fixture.engine.decide(request).allowed()).isFalse();
    assertThat(local.keys()).isZero();
  }

  private static String rule(String limit) {
    return "domain: d\ndescriptors:\n  - key: user\n    rate_limit: {" + limit + "}\n";
  }

  private static long admitted(Engine engine) {
    Request request = Request.of("d", "user", "a");
    return IntStream.range(0, 50).filter(i -> engine.decide(request).allowed()).count();
  }

  @Test
  void ruleThatMovesBetweenStores_admitsAtMostBothQuotas() {
    String here = rule("unit: minute, requests_per_unit: 10, store: local");
    String there = rule("unit: minute, requests_per_unit: 7, store: redis");
    Fixture fixture =
        new Fixture(
            here, EngineSettings.DEFAULTS, RoutedStore.of(new MemoryStore(), new MemoryStore()));
    long admitted = 0;
    for (int i = 0; i < 20; i++) {
      admitted += admitted(fixture.engine);
      fixture.engine.apply(Fixture.rules(i % 2 == 0 ? there : here));
    }
    assertThat(admitted).isEqualTo(17);
  }

  @Test
  void rulesForAStoreThatIsNotThere_areRefusedAllAtOnce_andTheRulesBeforeStay() {
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 3"));
    String rules =
        """
        domain: d
        descriptors:
          - key: user
            rate_limit: {unit: minute, requests_per_unit: 30, algorithm: fixed-window}
          - key: a
            rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
            descriptors:
              - key: b
                rate_limit: {unit: minute, requests_per_unit: 3, store: redis}
        """;
    RulesException refused =
        catchThrowableOfType(
            RulesException.class, () -> fixture.engine.apply(Fixture.rules(rules)));
    assertThat(refused).isInstanceOf(IllegalArgumentException.class);
    assertThat(refused.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "rules.yaml:5:5 rule d.a: store: shared (expected: local, there is no shared store)",
            "rules.yaml:8:9 rule d.a.b: store: shared (expected: local, there is no shared store)");
    assertThat(refused).hasMessageContaining("rule d.a:").hasMessageContaining("rule d.a.b:");
    assertThat(fixture.engine.revision()).isEqualTo(1);
    assertThat(fixture.engine.metrics().reloadFailures()).isEqualTo(1);
    assertThat(fixture.engine.metrics().rules()).hasSize(1);
    assertThat(admitted(fixture.engine)).isEqualTo(3);
  }

  @Test
  void veryManyRulesForAStoreThatIsNotThere_haveAShortMessage() {
    StringBuilder rules = new StringBuilder("domain: d\ndescriptors:\n");
    for (int i = 0; i < 120; i++) {
      rules.append("  - key: k").append(i);
      rules.append("\n    rate_limit: {unit: day, requests_per_unit: 1, store: redis}\n");
    }
    Fixture fixture = new Fixture(rule("unit: minute, requests_per_unit: 3"));
    RulesException refused =
        catchThrowableOfType(
            RulesException.class, () -> fixture.engine.apply(Fixture.rules(rules.toString())));
    assertThat(refused.problems()).hasSize(120);
    assertThat(String.valueOf(refused.getMessage()).lines()).hasSize(51).endsWith("and 70 more");
  }

  @Test
  void rulesThatFailHalfWay_leaveNothingBehind() {
    MemoryStore memory = new MemoryStore();
    Fixture fixture =
        new Fixture(
            rule("window: 1h, requests_per_unit: 1"),
            EngineSettings.DEFAULTS,
            RoutedStore.local(memory));
    for (int hours = 2; hours <= 8; hours++) {
      fixture.engine.apply(
          Fixture.rules(rule("window: " + hours + "h, requests_per_unit: " + hours)));
    }
    String withAnother =
        rule("window: 9h, requests_per_unit: 9")
            + "  - key: another\n    rate_limit: {unit: day, requests_per_unit: 1}\n";
    RulesException refused =
        catchThrowableOfType(
            RulesException.class, () -> fixture.engine.apply(Fixture.rules(withAnother)));
    assertThat(refused.problems()).hasSize(1);
    assertThat(refused).hasMessageStartingWith("rules.yaml:3:5 rule d.user: changed its algorithm");
    assertThat(fixture.engine.metrics().rules())
        .extracting(RuleMetrics::path)
        .containsExactly("d.user");
    assertThat(admitted(fixture.engine)).isEqualTo(8);
  }

  @Test
  void rulesThatFailHalfWay_areBackInTheirStores() {
    Fixture fixture =
        new Fixture(
            stores("local", "1h"),
            EngineSettings.DEFAULTS,
            RoutedStore.of(new MemoryStore(), new UncertainStore(asked)));
    for (int hours = 2; hours <= 8; hours++) {
      fixture.engine.apply(Fixture.rules(stores("local", hours + "h")));
    }
    assertThat(asked).isEmpty();
    assertThatThrownBy(() -> fixture.engine.apply(Fixture.rules(stores("redis", "9h"))))
        .isInstanceOf(RulesException.class);
    assertThat(asked).containsExactly("retire rule d.moves");
  }

  private static String stores(String store, String window) {
    return """
    domain: d
    descriptors:
      - key: moves
        rate_limit: {unit: day, requests_per_unit: 1, store: %s}
      - key: changes
        rate_limit: {window: %s, requests_per_unit: 1, store: local}
    """
        .formatted(store, window);
  }

  @Test
  void fullness_isThatOfTheStoreInThisProcess() {
    Fixture fixture = fixture(RoutedStore.of(new MemoryStore(2), new UncertainStore(asked)));
    fixture.engine.decide(request(1, "here"));
    assertThat(fixture.engine.fullPercent()).isEqualTo(50);
    assertThat(fixture.engine.metrics().maxKeys()).isEqualTo(2);
    assertThat(fixture.engine.metrics().keys()).isEqualTo(1);
  }
}
