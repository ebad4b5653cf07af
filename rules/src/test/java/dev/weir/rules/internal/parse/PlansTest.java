package dev.weir.rules.internal.parse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Throttle;
import dev.weir.rules.Entry;
import dev.weir.rules.PlanLimit;
import dev.weir.rules.Problem;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleFiles;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.rules.Texts;
import dev.weir.rules.UnknownSubject;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules whose numbers depend on a subject, and plans. */
class PlansTest {
  private static final String SHOP =
      """
      domain: shop
      plans:
        gold:
          user-minute: {requests_per_unit: 10_000}
          shop.user.path: {unlimited: true}
        none: {}
      descriptors:
        - key: user
          rate_limit: {name: user-minute, unit: minute, requests_per_unit: 100, by: user}
          descriptors:
            - key: path
              rate_limit: {unit: day, requests_per_unit: 7, by: user, unknown: DENY}
        - key: ip
          rate_limit: {unit: second, requests_per_unit: 5}
      """;

  private static Rule rule(RuleSet rules, String path) {
    return rules.rules().stream()
        .filter(each -> each.path().equals(path))
        .findFirst()
        .orElseThrow();
  }

  private static Policy policy(PlanLimit limit) {
    return Objects.requireNonNull(limit.policy());
  }

  /** Returns a file with one rule, named r, and the limit of a plan for it. */
  private static String file(String limit, String rateLimit) {
    return "domain: d\nplans:\n  gold:\n    r: %s\ndescriptors:\n  - {key: k, rate_limit: {name: r, %s}}\n"
        .formatted(limit, rateLimit);
  }

  @Test
  void by_isALevelOfTheRule_andUnknownIsWaitUnlessSaid() {
    RuleSet rules = Texts.rules(SHOP);
    assertThat(rule(rules, "shop.user").byLevel()).isZero();
    assertThat(rule(rules, "shop.user").unknown()).isEqualTo(UnknownSubject.WAIT);
    assertThat(rule(rules, "shop.user.path").byLevel()).isZero();
    assertThat(rule(rules, "shop.user.path").unknown()).isEqualTo(UnknownSubject.DENY);
    assertThat(rule(rules, "shop.ip").byLevel()).isEqualTo(-1);
  }

  @Test
  void plan_hasTheRulesPolicyWithItsOwnNumber() {
    RuleSet rules = Texts.rules(SHOP);
    Map<String, PlanLimit> minute = rules.planLimits(rule(rules, "shop.user"));
    assertThat(minute.keySet()).containsExactly("gold");
    PlanLimit gold = Objects.requireNonNull(minute.get("gold"));
    assertThat(gold.requestsPerUnit()).isEqualTo(10_000);
    assertThat(gold.unlimited()).isFalse();
    assertThat(gold.position()).hasToString("rules.yaml:4:5");
    assertThat(policy(gold).quota()).isEqualTo(Quota.perMinute(10_000));
    assertThat(policy(gold).name()).isEqualTo("user-minute");
  }

  @Test
  void planOfARuleWithoutAName_isFoundByItsPath_andMayBeUnlimited() {
    RuleSet rules = Texts.rules(SHOP);
    Map<String, PlanLimit> day = rules.planLimits(rule(rules, "shop.user.path"));
    assertThat(Objects.requireNonNull(day.get("gold")).unlimited()).isTrue();
    assertThat(rules.planLimits(rule(rules, "shop.ip"))).isEmpty();
  }

  @Test
  void plans_areKnownByName_alsoThoseWithoutLimits() {
    RuleSet rules = Texts.rules(SHOP);
    assertThat(rules.plans("shop")).containsExactly("gold", "none");
    assertThat(rules.plans("other")).isEmpty();
  }

  @Test
  void slidingWindowWithBy_countsInBuckets_soThatAllNumbersShareOneState() {
    for (Algorithm algorithm : Algorithm.rates()) {
      RuleSet rules =
          Texts.rules(
              file(
                  "{requests_per_unit: 1000}",
                  "unit: minute, requests_per_unit: 5, by: k, algorithm: " + algorithm.text()));
      Rule rule = rules.rules().get(0);
      Policy own = Objects.requireNonNull(rule.policy());
      Policy gold = policy(Objects.requireNonNull(rules.planLimits(rule).get("gold")));
      assertThat(gold.shape()).as("%s", algorithm).isEqualTo(own.shape());
      assertThat(own.algorithm())
          .isEqualTo(
              algorithm == Algorithm.SLIDING_WINDOW ? Algorithm.SLIDING_WINDOW_BUCKETS : algorithm);
      assertThat(gold.burst()).isEqualTo(1000);
    }
  }

  @Test
  void otherOptionsOfTheRule_areThePlansToo() {
    RuleSet rules =
        Texts.rules(
            file(
                "{requests_per_unit: 200, window: 1m, burst: 200}",
                "unit: minute, requests_per_unit: 100, by: k, algorithm: token-bucket, burst: 100,"
                    + " throttle: {soft: 5%}, max_keys: 9"));
    Policy gold =
        policy(Objects.requireNonNull(rules.planLimits(rules.rules().get(0)).get("gold")));
    assertThat(gold.throttle()).isEqualTo(Throttle.soft(0.05));
    assertThat(gold.enforced().quota().permits()).isEqualTo(210);
    assertThat(gold.enforced().burst()).isEqualTo(210);
    assertThat(gold.maxKeys()).isEqualTo(9);
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1, by: kk | 6:69 by: kk, did you mean \"k\"? (expected: a key of this rule's levels: k)",
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1, by: [k] | 6:69 by: a list (expected: a text)",
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1, by: k, unknown: pass | 6:76 unknown: pass (expected: wait, rule or deny)",
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1, unknown: rule | 6:69 unknown: rule (expected: none without by)",
        "{requests_per_unit: 5} | unlimited: true, by: k | 6:53 by: k (expected: none beside unlimited)",
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1, by: k, algorithm: leaky-bucket, burst: 3 | 6:101 burst: 3 (expected: none beside by, or requests_per_unit; another is not yet counted)",
        "{requests_per_unit: 5, window: 1h} | unit: day, requests_per_unit: 1, by: k | 4:31 window: 1h (expected: 1d, the window of rule r; another is not yet counted)",
        "{requests_per_unit: 5, window: x} | unit: day, requests_per_unit: 1, by: k | 4:31 window: x (expected: numbers with units, largest first, such as 90s, 1h30m or 250ms (units: w, d, h, m, s, ms))",
        "{requests_per_unit: 5, burst: 6} | unit: day, requests_per_unit: 1, by: k, algorithm: token-bucket | 4:31 burst: 6 (expected: none, or 5 as requests_per_unit; another is not yet counted)",
        "{requests_per_unit: 5, burst: 5} | unit: day, requests_per_unit: 1, by: k | 4:31 burst: 5 (expected: none with sliding-window-buckets, only token-bucket and leaky-bucket have one)",
        "{requests_per_unit: 5, unit: day} | unit: day, requests_per_unit: 1, by: k | 4:31 unit: stands in a limit of plans (expected: in rate_limit)",
        "{requests_per_unit: -5} | unit: day, requests_per_unit: 1, by: k | 4:9 requests_per_unit: -5 (expected: 0..4294967295)",
        "{requests_per_unit: 4294967295} | unit: day, requests_per_unit: 100, by: k, throttle: {soft: 5%} | 4:9 quota with what is tolerated: 4509715659 (expected: 0..4294967295)",
        "{} | unit: day, requests_per_unit: 1, by: k | 4:8 requests_per_unit: missing (expected: 0..4294967295, or unlimited: true)",
        "{unlimited: true, burst: 3} | unit: day, requests_per_unit: 1, by: k | 4:26 burst: 3 (expected: none beside unlimited)",
        "[5] | unit: day, requests_per_unit: 1, by: k | 4:5 r: a list (expected: {requests_per_unit: 1000} or {unlimited: true})",
        "{requests_per_unit: 5} | unit: day, requests_per_unit: 1 | 4:5 r: a rule without by (expected: by, in the rule at rules.yaml:6:5; without it the numbers are the same for all)",
        "{requests_per_unit: 5} | unlimited: true | 4:5 r: no rule (expected: the name of a rule in domain d, or the path of one without a name; plan \"gold\" limits nothing by this)",
      })
  void problem_isSaidAtItsPlace(String limit, String rateLimit, String problem) {
    assertThat(Texts.problems(file(limit, rateLimit))).containsExactly("rules.yaml:" + problem);
  }

  @Test
  void byOfALevelThatValuesShare_orOfAKeyTwice_isRefused() {
    assertThat(
            Texts.problems(
                """
                domain: d
                descriptors:
                  - key: a
                    value: "x*"
                    share_threshold: true
                    rate_limit: {unit: day, requests_per_unit: 1, by: a}
                  - key: b
                    descriptors:
                      - key: b
                        rate_limit: {unit: day, requests_per_unit: 1, by: b}
                """))
        .containsExactly(
            "rules.yaml:6:51 by: a (expected: a level without share_threshold, whose values have one counter)",
            "rules.yaml:10:55 by: b (expected: a key that only one of this rule's levels has)");
  }

  @Test
  void plansThatAreNoMaps_andNamesTooLong_areRefused() {
    String longName = "x".repeat(1_025);
    assertThat(Texts.problems("domain: d\nplans: [gold]\ndescriptors: []\n"))
        .containsExactly("rules.yaml:2:1 plans: a list (expected: a map of plan names)");
    assertThat(
            Texts.problems(
                "domain: d\nplans:\n  gold: 5\n  ? " + longName + "\n  : {}\ndescriptors: []\n"))
        .containsExactly(
            "rules.yaml:3:3 gold: 5 (expected: a map of rule names and limits)",
            "rules.yaml:4:5 plan: a name of 1025 characters (expected: 1 to 1024)");
  }

  @Test
  void moreLimitsThanAllowed_isRefused() {
    String limits =
        IntStream.rangeClosed(0, Plans.MAX_LIMITS)
            .mapToObj(i -> "    r" + i + ": {unlimited: true}\n")
            .collect(Collectors.joining());
    assertThat(Texts.problems("domain: d\nplans:\n  gold:\n" + limits + "descriptors: []\n"))
        .anySatisfy(
            problem ->
                assertThat(problem)
                    .endsWith("plans: more limits (expected: at most 10000 in all)"));
  }

  /** Returns a file whose plans all name the same rules. */
  private static String product(int plans, int rules, String by) {
    StringBuilder text = new StringBuilder("domain: d\nplans:\n");
    for (int i = 0; i < plans; i++) {
      text.append("  p").append(i).append(": {same: {requests_per_unit: 5}}\n");
    }
    text.append("descriptors:\n");
    for (int i = 0; i < rules; i++) {
      text.append("  - {key: k").append(i);
      text.append(", rate_limit: {name: same, unit: day, requests_per_unit: 1");
      text.append(by.replace("%", Integer.toString(i))).append("}}\n");
    }
    return text.toString();
  }

  @Test
  void limitOfANameOfManyRules_countsOnceForEachOfThem() {
    RuleSet most = Texts.rules(product(100, 100, ", by: k%"));
    assertThat(most.rules()).allSatisfy(rule -> assertThat(most.planLimits(rule)).hasSize(100));
    assertThat(Texts.problems(product(101, 100, ", by: k%")))
        .containsExactly(
            "rules.yaml:103:10 plan \"p100\": more limits with rule \"same\", the name of 100 rules"
                + " (expected: at most 10000 in all, each counted once for each rule that it means)");
  }

  /** Uses nine million limits, which would take minutes and some 3 GiB. */
  @ParameterizedTest
  @ValueSource(strings = {", by: k%", ""})
  @Timeout(60)
  void manyPlansForManyRulesOfOneName_areRefusedAtTheBound(String by) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", product(3_000, 3_000, by));
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "rules.yaml:6:8 plan \"p3\": more limits with rule \"same\", the name of 3,000 rules"
                + " (expected: at most 10000 in all, each counted once for each rule that it means)");
  }

  @Test
  void moreLimitsAndPlansThanTheHeapHasRoomFor_areRefused() {
    long heap = 12L << 20;
    String few = product(20, 100, ", by: k%");
    assertThat(RuleFiles.ofText("rules.yaml", few).parse(RuleDefaults.DENY, heap).ruleSet())
        .isNotNull();
    String many = product(60, 100, ", by: k%");
    Rules.LoadResult loaded = RuleFiles.ofText("rules.yaml", many).parse(RuleDefaults.DENY, heap);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems()).hasSize(1);
    assertThat(loaded.problems().get(0).toString())
        .contains(
            "limits in plans: more than there is memory for, 3,",
            "take about 4 MiB (expected: at most 4 MiB, a third of the heap;");

    String names =
        IntStream.range(0, 40_000)
            .mapToObj(i -> "  p" + i + ": {}\n")
            .collect(Collectors.joining("", "domain: d\nplans:\n", "descriptors: []\n"));
    loaded = RuleFiles.ofText("rules.yaml", names).parse(RuleDefaults.DENY, heap);
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems()).hasSize(1);
    assertThat(loaded.problems().get(0).toString())
        .contains("plans: more than there is memory for, 3", "a third of the heap;");
  }

  @Test
  void plansInSeveralFiles_addUp_andTheSameLimitTwiceIsRefused() {
    String descriptors =
        """
        domain: d
        descriptors:
          - {key: k, rate_limit: {name: r, unit: day, requests_per_unit: 1, by: k}}
          - {key: l, rate_limit: {name: s, unit: day, requests_per_unit: 1, by: l}}
        """;
    String first = "domain: d\nplans: {gold: {r: {requests_per_unit: 5}}}\ndescriptors: []\n";
    String second = "domain: d\nplans: {gold: {s: {requests_per_unit: 6}}}\ndescriptors: []\n";

    Rules.LoadResult loaded =
        Rules.parse(Map.of("a.yaml", descriptors, "b.yaml", first, "c.yaml", second));
    RuleSet rules = Objects.requireNonNull(loaded.ruleSet());
    assertThat(loaded.problems()).isEmpty();
    assertThat(rules.planLimits(rule(rules, "d.k"))).containsOnlyKeys("gold");
    assertThat(rules.planLimits(rule(rules, "d.l"))).containsOnlyKeys("gold");

    loaded = Rules.parse(Map.of("c.yaml", first, "b.yaml", first, "a.yaml", descriptors));
    assertThat(loaded.ruleSet()).isNull();
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "c.yaml:2:16 plan \"gold\": names rule \"r\" once more, as at b.yaml:2:16 (expected: once)");
  }

  @Test
  void nameOfSeveralRules_meansAllOfThem() {
    RuleSet rules =
        Texts.rules(
            """
            domain: d
            plans: {gold: {r: {requests_per_unit: 5}}}
            descriptors:
              - {key: a, rate_limit: {name: r, unit: day, requests_per_unit: 1, by: a}}
              - {key: b, rate_limit: {name: r, unit: hour, requests_per_unit: 1, by: b}}
            """);
    assertThat(rules.planLimits(rule(rules, "d.a"))).containsOnlyKeys("gold");
    assertThat(
            policy(Objects.requireNonNull(rules.planLimits(rule(rules, "d.b")).get("gold")))
                .quota())
        .isEqualTo(Quota.perHour(5));
  }

  @Test
  void differences_areSaid() {
    RuleSet older =
        Texts.rules(
            """
            domain: d
            plans:
              gold: {r: {requests_per_unit: 5}}
              gone: {r: {requests_per_unit: 6}}
            descriptors:
              - {key: k, rate_limit: {name: r, unit: day, requests_per_unit: 1, by: k}}
            """);
    RuleSet newer =
        Texts.rules(
            """
            domain: d
            plans:
              gold: {r: {requests_per_unit: 50}}
              new: {r: {unlimited: true}}
            descriptors:
              - {key: k, rate_limit: {name: r, unit: day, requests_per_unit: 1, by: k, unknown: rule}}
            """);
    assertThat(older.diff(newer))
        .containsExactly(
            "d.k: by k (unknown: wait) -> k (unknown: rule)",
            "d.k: plan \"gold\" 5 per day -> 50 per day",
            "d.k: plan \"new\" added, unlimited",
            "d.k: plan \"gone\" removed, was 6 per day");
    assertThat(newer.diff(newer)).isEmpty();
    assertThat(Texts.rules("domain: d\n").diff(older))
        .containsExactly(
            "d.k: added, 1 per day by sliding-window-buckets, by k (unknown: wait)",
            "d.k: plan \"gold\" added, 5 per day",
            "d.k: plan \"gone\" added, 6 per day");
  }

  @Test
  void explanation_saysWhoseNumbersComeFirst() {
    RuleSet rules = Texts.rules(SHOP);
    assertThat(rules.explain("shop", List.of(new Entry("user", "alice"))).verdict())
        .isEqualTo(
            "decided by shop.user (rules.yaml:8:5): 100 per minute, sliding-window-buckets, by user"
                + " (unknown: wait); if user \"alice\" has a limit of its own for user-minute, by that,"
                + " else by its plan (gold 10000 per minute)");
    assertThat(
            Texts.rules(file("{requests_per_unit: 5}", "unit: day, requests_per_unit: 1"))
                .explain("d", List.of(new Entry("k", "x")))
                .verdict())
        .doesNotContain("plan");
  }

  @Test
  void manyPlans_areCounted() {
    StringBuilder yaml = new StringBuilder("domain: d\nplans:\n");
    for (int i = 0; i < 12; i++) {
      yaml.append("  p%d: {r: {requests_per_unit: %d}}\n".formatted(i, i + 1));
    }
    yaml.append(
        "descriptors:\n  - {key: k, rate_limit: {name: r, unit: day, requests_per_unit: 1, by: k}}\n");
    assertThat(Texts.rules(yaml.toString()).explain("d", List.of(new Entry("k", "x"))).verdict())
        .endsWith("p9 10 per day and 2 more)");
  }

  @Test
  void textsByName_areReadAsAFolder_andNoneIsRefused() {
    String one =
        "domain: d\ndescriptors:\n  - {key: k, rate_limit: {unit: day, requests_per_unit: 1}}\n";
    Rules.LoadResult loaded = Rules.parse(Map.of("b.yaml", one, "a.yaml", one));
    assertThat(loaded.problems())
        .extracting(Problem::toString)
        .containsExactly(
            "b.yaml:3:5 descriptor \"k\": duplicate of a.yaml:3:5 (expected: unique key and value per level)");
    assertThat(Rules.parse(Map.of()).problems())
        .extracting(Problem::message)
        .containsExactly("texts: none (expected: at least one)");
  }
}
