package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.engine.internal.metrics.RuleLabels;
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class EngineTest {
  private static final String USERS =
      """
      domain: shop
      descriptors:
        - key: user
          rate_limit:
            unit: minute
            requests_per_unit: 3
        - key: tenant
          rate_limit:
            name: tenants
            unit: hour
            requests_per_unit: 5
      """;

  private static Request request(long permits, Descriptor... descriptors) {
    return new Request("shop", List.of(descriptors), permits);
  }

  private static List<Boolean> allowed(Answer answer) {
    return answer.statuses().stream().map(Status::allowed).toList();
  }

  private static Decision decision(Status status) {
    return Objects.requireNonNull(status.decision());
  }

  @Test
  void manyAtOnce_areDecidedInTheirOrder_asIfOneByOne() {
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      requests.add(Request.of(i % 7 == 0 ? "" : "shop", "user", "user-" + i % 5));
    }
    long[] times = new long[requests.size()];
    for (int i = 0; i < times.length; i++) {
      times[i] = i * 2_000_000_000L;
    }
    Engine one = new Fixture(USERS).engine;
    Engine many = new Fixture(USERS).engine;
    List<Answer> answers = new ArrayList<>();
    many.decideAllAt(requests, times, new double[times.length], answers::add);
    for (int i = 0; i < times.length; i++) {
      assertThat(answers.get(i).allowed())
          .as("request %d", i)
          .isEqualTo(one.decideAt(requests.get(i), times[i]).allowed());
      assertThat(answers.get(i).error() == null).isEqualTo(i % 7 != 0);
    }
    assertThat(many.metrics().requests()).isEqualTo(one.metrics().requests());
    assertThat(many.metrics().denied()).isEqualTo(one.metrics().denied()).isPositive();
    assertThat(many.metrics().errors()).isEqualTo(6);
  }

  @Test
  void manyNow_areAnsweredTogether_inTheirOrder_howeverTheStoreAnswers() {
    LateStore store = new LateStore();
    Fixture fixture = new Fixture(USERS, EngineSettings.DEFAULTS, store);
    List<List<Answer>> answers = new ArrayList<>();
    fixture.engine.decideAll(List.of(), answers::add);
    assertThat(answers).containsExactly(List.of());
    answers.clear();
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      requests.add(Request.of("shop", "user", i == 4 ? "bob" : "alice"));
    }
    requests.add(1, Request.of("", "user", "alice"));
    fixture.engine.decideAll(requests, answers::add);
    assertThat(answers).isEmpty();
    assertThat(store.answer()).isEqualTo(5);
    assertThat(answers).hasSize(1);
    assertThat(answers.get(0))
        .extracting(Answer::allowed)
        .containsExactly(true, false, true, true, false, true);
    assertThat(answers.get(0))
        .extracting(answer -> answer.error() == null)
        .containsExactly(true, false, true, true, true, true);
  }

  @Test
  void rule_withinAndOverLimit_statusesAreFull() {
    Fixture fixture = new Fixture(USERS);
    Request request = Request.of("shop", "user", "alice");

    List<Long> remaining = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Answer answer = fixture.engine.decide(request);
      assertThat(answer.allowed()).isTrue();
      remaining.add(answer.statuses().get(0).limitRemaining());
    }
    fixture.ticker.advance(1_500_000_000L);
    Answer refused = fixture.engine.decide(request);

    assertThat(remaining).containsExactly(2L, 1L, 0L);
    assertThat(refused.allowed()).isFalse();
    Status status = refused.statuses().get(0);
    assertThat(status.currentLimit()).isNotNull();
    assertThat(Objects.requireNonNull(status.currentLimit()).requestsPerUnit()).isEqualTo(3);
    assertThat(status.currentLimit().unit()).isEqualTo(RateLimitUnit.MINUTE);
    assertThat(decision(status).reason()).isEqualTo(Reason.OVER_LIMIT);
    assertThat(decision(status).retryAfterNanos()).isEqualTo(58_500_000_000L);
    assertThat(status.durationUntilResetSeconds()).isEqualTo(59);
    assertThat(fixture.engine.decide(Request.of("shop", "user", "bob")).allowed()).isTrue();
  }

  @Test
  void badRequests_areErrorsInTheOriginalsWords() {
    Fixture fixture = new Fixture(USERS);
    Engine empty = Engine.create(new MemoryStore(), new FakeTicker(), EngineSettings.DEFAULTS);

    assertThat(fixture.engine.decide(Request.of("", "user", "a")).error())
        .isEqualTo("rate limit domain must not be empty");
    assertThat(fixture.engine.decide(request(1)).error())
        .isEqualTo("rate limit descriptor list must not be empty");
    assertThat(empty.decide(Request.of("shop", "user", "a")).error())
        .isEqualTo("no rate limit configuration loaded");
    assertThat(fixture.engine.decide(Request.of("shop", "user", "x".repeat(4097))).error())
        .isEqualTo("entry length: 4097 (expected: at most 4096)");
    assertThat(
            fixture
                .engine
                .decide(
                    new Request("shop", Collections.nCopies(129, Descriptor.of("user", "a")), 1))
                .error())
        .isEqualTo("descriptors: 129 (expected: at most 128)");
    assertThat(fixture.engine.decide(request(-1, Descriptor.of("user", "a"))).error())
        .isEqualTo("permits: -1 (expected: at least 0)");
    assertThat(fixture.engine.metrics().errors()).isEqualTo(5);
    assertThat(fixture.engine.metrics().keys()).isZero();
  }

  @Test
  void unknownDomainOrKey_isOkWithoutLimit() {
    Fixture fixture = new Fixture(USERS);

    assertThat(fixture.engine.decide(Request.of("other", "user", "a")).statuses())
        .containsExactly(Status.UNMATCHED);
    assertThat(fixture.engine.decide(Request.of("shop", "user", "a", "path", "/")).statuses())
        .containsExactly(Status.UNMATCHED);
  }

  @Test
  void severalDescriptors_oneOver_nothingIsCharged() {
    Fixture fixture = new Fixture(USERS);
    Descriptor user = Descriptor.of("user", "alice");
    Descriptor tenant = Descriptor.of("tenant", "acme");
    fixture.engine.decide(request(3, user));

    for (int i = 0; i < 10; i++) {
      Answer refused = fixture.engine.decide(request(1, tenant, user));
      assertThat(refused.allowed()).isFalse();
      assertThat(allowed(refused)).containsExactly(true, false);
      assertThat(refused.statuses().get(0).limitRemaining()).isEqualTo(5);
    }
    assertThat(fixture.engine.decide(request(5, tenant)).allowed()).isTrue();
  }

  @Test
  void sameDescriptorTwice_addsUp() {
    Fixture fixture = new Fixture(USERS);
    Descriptor user = Descriptor.of("user", "alice");

    assertThat(allowed(fixture.engine.decide(request(2, user, user)))).containsExactly(true, false);
    assertThat(allowed(fixture.engine.decide(request(1, user, user)))).containsExactly(true, true);
    assertThat(fixture.engine.decide(request(2, user)).allowed()).isFalse();
    assertThat(fixture.engine.decide(request(1, user)).allowed()).isTrue();
  }

  @Test
  void permits_zeroMeansOneForTheRequestAndPeeksForADescriptor() {
    Fixture fixture = new Fixture(USERS);
    Descriptor look = new Descriptor(Descriptor.of("user", "a").entries(), null, 0L);

    fixture.engine.decide(request(0, Descriptor.of("user", "a")));
    assertThat(fixture.engine.decide(request(9, look)).statuses().get(0).limitRemaining())
        .isEqualTo(2);
    fixture.engine.decide(request(2, Descriptor.of("user", "a")));
    assertThat(fixture.engine.decide(request(9, look)).allowed()).isTrue();
    assertThat(fixture.engine.decide(request(1, Descriptor.of("user", "a"))).allowed()).isFalse();
  }

  @Test
  void override_isInForceInsteadOfTheRule_andKeepsItsCountWhenItsNumberChanges() {
    Fixture fixture = new Fixture(USERS);

    assertThat(fixture.engine.decide(override("user", 10, 10)).allowed()).isTrue();
    assertThat(fixture.engine.decide(override("user", 10, 1)).allowed()).isFalse();
    assertThat(fixture.engine.decide(override("user", 20, 10)).allowed()).isTrue();
    assertThat(fixture.engine.decide(override("user", 20, 1)).allowed()).isFalse();
    assertThat(fixture.engine.decide(override("nowhere", 1, 1)).allowed()).isTrue();
    assertThat(fixture.engine.decide(override("nowhere", 1, 1)).allowed()).isFalse();
    assertThat(fixture.engine.decide(Request.of("shop", "user", "a")).allowed()).isTrue();
  }

  private static Request override(String key, long limit, long permits) {
    Descriptor descriptor =
        new Descriptor(
            Descriptor.of(key, "a").entries(),
            new LimitOverride(limit, RateLimitUnit.MINUTE),
            null);
    return request(permits, descriptor);
  }

  @Test
  void override_inUnknownDomain_isNoLimit() {
    Fixture fixture = new Fixture(USERS);
    Descriptor descriptor =
        new Descriptor(
            Descriptor.of("user", "a").entries(), new LimitOverride(0, RateLimitUnit.DAY), null);

    assertThat(fixture.engine.decide(new Request("x", List.of(descriptor), 1)).allowed()).isTrue();
    assertThat(fixture.engine.decide(new Request("shop", List.of(descriptor), 1)).allowed())
        .isFalse();
  }

  @Test
  void shadowMode_passesAndIsCounted_withRemainingZero() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: user
                shadow_mode: true
                rate_limit: {unit: minute, requests_per_unit: 1}
            """);
    Request request = Request.of("shop", "user", "a");

    fixture.engine.decide(request);
    Answer answer = fixture.engine.decide(request);

    assertThat(answer.allowed()).isTrue();
    assertThat(answer.statuses().get(0).allowed()).isTrue();
    assertThat(answer.statuses().get(0).limitRemaining()).isZero();
    assertThat(decision(answer.statuses().get(0)).reason()).isEqualTo(Reason.SHADOW);
    assertThat(fixture.engine.metrics().rules())
        .containsExactly(new RuleMetrics("shop.user", "shop.user", 1, 0, 1, 0, 0, 0, 1, 1));
  }

  @Test
  void globalShadowMode_onlyTheOverallCodeTurnsOk() {
    Fixture fixture =
        new Fixture(USERS, new EngineSettings(true, 80, 128, 32, 4096, 1_000), new MemoryStore());

    Answer answer = fixture.engine.decide(request(4, Descriptor.of("user", "a")));

    assertThat(answer.allowed()).isTrue();
    assertThat(allowed(answer)).containsExactly(false);
  }

  @Test
  void quotaMode_refusesOnlyWhenAllAreOver() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: a
                quota_mode: true
                rate_limit: {unit: minute, requests_per_unit: 1}
              - key: b
                quota_mode: true
                rate_limit: {unit: minute, requests_per_unit: 2}
              - key: free
                quota_mode: true
                rate_limit: {unlimited: true}
            """);
    Descriptor a = Descriptor.of("a", "");
    Descriptor b = Descriptor.of("b", "");

    assertThat(allowed(fixture.engine.decide(request(1, a, b)))).containsExactly(true, true);
    Answer second = fixture.engine.decide(request(1, a, b));
    assertThat(second.allowed()).isTrue();
    assertThat(allowed(second)).containsExactly(false, true);
    Answer third = fixture.engine.decide(request(1, a, b));
    assertThat(third.allowed()).isFalse();
    assertThat(allowed(third)).containsExactly(false, false);
    Answer fourth = fixture.engine.decide(request(1, a, b, Descriptor.of("free", "")));
    assertThat(fourth.allowed()).isTrue();
    assertThat(fourth.statuses().get(2).limitRemaining()).isEqualTo(4_294_967_295L);
    assertThat(fourth.statuses().get(2).currentLimit()).isNull();
  }

  @Test
  void replaces_dropsTheNamedRule_whateverTheOrder() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: all
                rate_limit: {name: all, unit: minute, requests_per_unit: 1}
              - key: gold
                rate_limit:
                  unit: minute
                  requests_per_unit: 5
                  replaces: [{name: all}]
            """);
    Descriptor all = Descriptor.of("all", "");
    Descriptor gold = Descriptor.of("gold", "");

    assertThat(fixture.engine.decide(request(1, all)).allowed()).isTrue();
    assertThat(fixture.engine.decide(request(1, all)).allowed()).isFalse();
    for (Request request : List.of(request(1, all, gold), request(1, gold, all))) {
      Answer answer = fixture.engine.decide(request);
      assertThat(answer.allowed()).isTrue();
      assertThat(answer.statuses()).contains(Status.UNMATCHED);
    }
  }

  @Test
  void shareThreshold_allValuesShareOneCounter() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: path
                value: /api/*
                share_threshold: true
                rate_limit: {unit: minute, requests_per_unit: 2}
              - key: path
                value: /own/*
                rate_limit: {unit: minute, requests_per_unit: 1}
            """);

    assertThat(fixture.engine.decide(Request.of("shop", "path", "/api/a")).allowed()).isTrue();
    assertThat(fixture.engine.decide(Request.of("shop", "path", "/api/b")).allowed()).isTrue();
    assertThat(fixture.engine.decide(Request.of("shop", "path", "/api/c")).allowed()).isFalse();
    assertThat(fixture.engine.decide(Request.of("shop", "path", "/own/a")).allowed()).isTrue();
    assertThat(fixture.engine.decide(Request.of("shop", "path", "/own/b")).allowed()).isTrue();
    assertThat(fixture.engine.decide(Request.of("shop", "path", "/own/b")).allowed()).isFalse();
  }

  @Test
  void metrics_severalPermits_areSplitBetweenNearAndOver() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: user
                rate_limit: {unit: minute, requests_per_unit: 10}
            """);
    Descriptor user = Descriptor.of("user", "a");

    fixture.engine.decide(request(7, user)); // 7 of 10: below 8
    fixture.engine.decide(request(2, user)); // 9 of 10: one of them above 8
    fixture.engine.decide(request(4, user)); // refused: one would be near, three over

    assertThat(fixture.engine.metrics().rules())
        .containsExactly(new RuleMetrics("shop.user", "shop.user", 9, 0, 3, 1, 0, 0, 2, 0));
    assertThat(fixture.engine.metrics().requests()).isEqualTo(3);
    assertThat(fixture.engine.metrics().denied()).isEqualTo(1);
    assertThat(fixture.engine.metrics().decisionTimeCounts().stream().mapToLong(n -> n).sum())
        .isEqualTo(3);
  }

  @Test
  void metricLabels_byValue_areBounded() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: user
                value_to_metric: true
                rate_limit: {unit: minute, requests_per_unit: 10}
            """);
    int values = RuleLabels.MAX_VALUES + 100;
    for (int i = 0; i < values; i++) {
      fixture.engine.decide(Request.of("shop", "user", "u" + i));
    }

    List<RuleMetrics> rules = fixture.engine.metrics().rules();
    assertThat(rules).hasSize(RuleLabels.MAX_VALUES + 1);
    assertThat(rules)
        .contains(new RuleMetrics("shop.user_u7", "shop.user", 1, 0, 0, 0, 0, 0, 0, 0));
    assertThat(rules)
        .contains(new RuleMetrics("shop.user.other", "shop.user", 100, 0, 0, 0, 0, 0, 0, 0));
  }

  /** Uses labels of the longest kind, in every rule that has some: callers choose the values. */
  @Test
  void metrics_labelsOfOneRule_areBoundedInCharacters() {
    Fixture fixture =
        new Fixture(
            """
            domain: shop
            descriptors:
              - key: user
                value_to_metric: true
                rate_limit: {unit: minute, requests_per_unit: 10}
            """);
    int length = EngineSettings.DEFAULTS.maxKeyLength();
    for (int i = 0; i < RuleLabels.MAX_VALUES; i++) {
      fixture.engine.decide(Request.of("shop", "user", String.format("%0" + length + "d", i)));
    }

    List<RuleMetrics> rules = fixture.engine.metrics().rules();
    int kept = RuleLabels.MAX_CHARACTERS / ("shop.user_".length() + length);
    assertThat(rules).hasSize(kept + 1);
    assertThat(rules)
        .contains(
            new RuleMetrics(
                "shop.user.other", "shop.user", RuleLabels.MAX_VALUES - kept, 0, 0, 0, 0, 0, 0, 0));
    fixture.engine.decide(Request.of("shop", "user", "short"));
    assertThat(fixture.engine.metrics().rules())
        .as("what fits is still told apart")
        .contains(new RuleMetrics("shop.user_short", "shop.user", 1, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void onFailure_fullStore_answersAsThePolicySays() {
    String rules =
        """
        domain: shop
        descriptors:
          - key: strict
            rate_limit: {unit: minute, requests_per_unit: 1}
          - key: open
            rate_limit: {unit: minute, requests_per_unit: 1, on_failure: allow}
        """;
    Fixture fixture = new Fixture(rules, EngineSettings.DEFAULTS, new MemoryStore(1));
    fixture.engine.decide(Request.of("shop", "strict", "first"));

    Answer denied = fixture.engine.decide(Request.of("shop", "strict", "second"));
    Answer allowed = fixture.engine.decide(Request.of("shop", "open", "second"));
    Answer over = fixture.engine.decide(Request.of("shop", "strict", "first"));

    assertThat(denied.allowed()).isFalse();
    assertThat(decision(denied.statuses().get(0)).reason()).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(allowed.allowed()).isTrue();
    assertThat(decision(allowed.statuses().get(0)).reason()).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(decision(over.statuses().get(0)).reason()).isEqualTo(Reason.OVER_LIMIT);
  }

  @Test
  void deciding_isTheLongestRefusal_orElseTheLeastRemaining() {
    Fixture fixture = new Fixture(USERS);
    Descriptor user = Descriptor.of("user", "alice");
    Descriptor tenant = Descriptor.of("tenant", "acme");

    @Nullable Status first = fixture.engine.decide(request(1, tenant, user)).deciding();
    fixture.engine.decide(request(2, user));
    fixture.engine.decide(request(4, tenant));
    @Nullable Status refused = fixture.engine.decide(request(1, user, tenant)).deciding();

    assertThat(decision(Objects.requireNonNull(first)).policy()).isEqualTo("shop.user");
    assertThat(decision(Objects.requireNonNull(refused)).policy()).isEqualTo("tenants");
    assertThat(fixture.engine.decide(Request.of("x", "y", "z")).deciding()).isNull();
  }
}
