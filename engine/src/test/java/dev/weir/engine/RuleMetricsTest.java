package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Charges;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Reason;
import dev.weir.rules.Descriptor;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every permit that is requested of a rule is in exactly one class. */
class RuleMetricsTest {
  private static final int TRIALS = 60;
  private static final int REQUESTS = 250;
  private static final List<String> KEYS = List.of("a", "b", "c", "e");

  private static RuleMetrics of(Engine engine, String path) {
    return engine.metrics().rules().stream()
        .filter(each -> each.path().equals(path))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void refusalByAnotherRule_isAClassOfItsOwn() {
    Fixture fixture =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: a
                rate_limit: {name: login, unit: minute, requests_per_unit: 9}
              - key: b
                rate_limit: {unit: minute, requests_per_unit: 3}
            """);
    Descriptor a = Descriptor.of("a", "x");
    Descriptor b = Descriptor.of("b", "x");
    fixture.engine.decide(new Request("d", List.of(a, b), 2));
    fixture.engine.decide(new Request("d", List.of(a, b), 2));

    assertThat(of(fixture.engine, "d.a"))
        .as("named as its answers name it")
        .isEqualTo(new RuleMetrics("d.a", "login", 2, 0, 0, 0, 2, 0, 0, 0));
    assertThat(of(fixture.engine, "d.b"))
        .as("of the two beyond what is left, one would have fitted")
        .isEqualTo(new RuleMetrics("d.b", "d.b", 2, 0, 1, 1, 0, 0, 1, 0));
  }

  @Test
  void newName_goesOnWithTheSameCounts() {
    String rules =
        "domain: d\ndescriptors: [{key: a, rate_limit: {unit: day, requests_per_unit: 9}}]";
    Fixture fixture = new Fixture(rules);
    fixture.engine.decide(Request.of("d", "a", "x"));
    fixture.engine.apply(Fixture.rules(rules.replace("unit: day", "unit: day, name: n")));
    fixture.engine.decide(Request.of("d", "a", "x"));
    assertThat(fixture.engine.metrics().rules())
        .containsExactly(new RuleMetrics("d.a", "n", 2, 0, 0, 0, 0, 0, 0, 0));
  }

  @Test
  void labelsThatReadAlike_areOneSum() {
    Fixture fixture =
        new Fixture(
            """
            domain: d
            descriptors:
              - key: a
                detailed_metric: true
                rate_limit: {name: n, unit: day, requests_per_unit: 9}
              - key: a_x
                rate_limit: {name: n, unit: day, requests_per_unit: 9}
            """);
    fixture.engine.decide(Request.of("d", "a", "x"));
    fixture.engine.decide(Request.of("d", "a_x", "y"));
    assertThat(fixture.engine.metrics().rules())
        .containsExactly(new RuleMetrics("d.a_x", "n", 2, 0, 0, 0, 0, 0, 0, 0));
  }

  /** A store that now and then cannot decide: then it is not known whether the permits fit. */
  private static final class MoodyStore extends ForwardingStore<MemoryStore> {
    private final SplittableRandom random;

    MoodyStore(SplittableRandom random) {
      super(new MemoryStore(1 + random.nextInt(12)));
      this.random = random;
    }

    @Override
    public void decide(Charges charges, long nowNanos, Consumer<? super Charges> done) {
      if (random.nextInt(4) != 0) {
        delegate.decide(charges, nowNanos, done);
        return;
      }
      boolean passes = true;
      boolean asked = false;
      boolean any = false;
      for (int i = 0; i < charges.size(); i++) {
        charges.result(i, Reason.UNCERTAIN, 0, 1_000_000_000L, 0, nowNanos);
        boolean forgiven = charges.forgiven(i);
        passes &= charges.role(i) != Charges.Role.REQUIRED || forgiven;
        asked |= charges.role(i) == Charges.Role.ANY;
        any |= charges.role(i) == Charges.Role.ANY && forgiven;
      }
      charges.allowed(passes && (any || !asked));
      done.accept(charges);
    }
  }

  private static String rules(SplittableRandom random) {
    StringBuilder text = new StringBuilder("domain: d\ndescriptors:\n");
    for (String key : KEYS) {
      text.append("  - key: ").append(key).append('\n');
      if (random.nextInt(4) == 0) {
        text.append("    shadow_mode: true\n");
      }
      if (random.nextInt(3) == 0) {
        text.append("    quota_mode: true\n");
      }
      if (random.nextInt(4) == 0) {
        text.append("    detailed_metric: true\n");
      }
      text.append("    rate_limit:\n");
      if (random.nextInt(3) == 0) {
        text.append("      name: ").append(key).append("-limit\n");
      }
      if (random.nextInt(8) == 0) {
        text.append("      unlimited: true\n");
        continue;
      }
      boolean bucket = random.nextInt(4) == 0;
      text.append("      unit: minute\n      requests_per_unit: ").append(2 + random.nextInt(20));
      text.append("\n      algorithm: ")
          .append(
              bucket
                  ? any(random, "token-bucket", "leaky-bucket")
                  : any(
                      random,
                      "sliding-window",
                      "sliding-window-log",
                      "sliding-window-buckets",
                      "sliding-window-counter",
                      "fixed-window"))
          .append("\n      on_failure: ")
          .append(any(random, "deny", "allow"))
          .append("\n      throttle: ")
          .append(any(random, "hard", "hard", "{soft: 50%}", "{elastic: 60%}"))
          .append("\n      when_full: ")
          .append(any(random, "deny", "sketch"))
          .append('\n');
    }
    return text.toString();
  }

  private static String any(SplittableRandom random, String... choices) {
    return choices[random.nextInt(choices.length)];
  }

  private static Descriptor descriptor(SplittableRandom random) {
    Descriptor plain =
        Descriptor.of(KEYS.get(random.nextInt(KEYS.size())), "v" + random.nextInt(4));
    LimitOverride override =
        random.nextInt(12) == 0 ? new LimitOverride(5, RateLimitUnit.MINUTE) : null;
    Long permits = random.nextBoolean() ? null : (long) random.nextInt(9);
    return new Descriptor(plain.entries(), override, permits);
  }

  /** The permits requested of one rule, added up from requests and answers alone. */
  private static final class Expected {
    long hits;
    long withinLimit;
    long refusedByOther;
    long undecided;
  }

  private static void add(Map<String, Expected> expected, Request request, Answer answer) {
    for (int i = 0; i < answer.statuses().size(); i++) {
      Status status = answer.statuses().get(i);
      Rule rule = status.rule();
      if (rule == null || status.currentLimit() == null) {
        continue;
      }
      Long own = request.descriptors().get(i).permits();
      long permits = own == null ? Math.max(1, request.permits()) : own;
      boolean passed = answer.allowed() && !answer.shadowed();
      Expected sum = expected.computeIfAbsent(rule.path(), path -> new Expected());
      sum.hits += permits;
      switch (status.reason()) {
        case WITHIN_LIMIT -> {
          sum.withinLimit += passed ? permits : 0;
          sum.refusedByOther += passed ? 0 : permits;
        }
        case TOLERATED -> sum.refusedByOther += passed ? 0 : permits;
        case UNCERTAIN, OVERLOADED, KEY_SPACE_FULL -> sum.undecided += permits;
        default -> {}
      }
    }
  }

  @Test
  void sumOfTheClasses_isTheHits_forRandomRulesAndRequestsAndAStoreThatFails() {
    SplittableRandom random = Trials.random("RuleMetricsTest", TRIALS);
    Set<String> seen = new HashSet<>();
    for (int trial = 0; trial < TRIALS; trial++) {
      String yaml = rules(random);
      FakeTicker ticker = new FakeTicker();
      EngineSettings settings =
          new EngineSettings(random.nextInt(5) == 0, 80, 128, 32, 4096, 1_000);
      SplittableRandom loads = random.split();
      Engine engine =
          Engine.builder(new MoodyStore(random.split()))
              .ticker(ticker)
              .settings(settings)
              .load(loads::nextDouble)
              .build();
      engine.apply(Fixture.rules(yaml));
      Map<String, Expected> expected = new HashMap<>();
      boolean shadowRules = yaml.contains("shadow_mode");
      for (int i = 0; i < REQUESTS; i++) {
        List<Descriptor> descriptors = new ArrayList<>();
        for (int j = random.nextInt(4); j >= 0; j--) {
          descriptors.add(descriptor(random));
        }
        Request request = new Request("d", descriptors, random.nextInt(15));
        if (random.nextInt(20) == 0) {
          engine.refuse(request, answer -> add(expected, request, answer));
        } else {
          add(expected, request, engine.decide(request));
        }
        ticker.advance(random.nextLong(3_000_000_000L));
      }
      for (Map.Entry<String, Expected> each : expected.entrySet()) {
        Sum sum = sum(engine, yaml, each.getKey());
        Expected hits = each.getValue();
        String what = "trial %d, %s of%n%s".formatted(trial, each.getKey(), yaml);
        assertThat(sum.hits).as(what).isEqualTo(hits.hits);
        assertThat(sum.classes).as(what).isEqualTo(hits.hits);
        assertThat(sum.marks).as(what).isLessThanOrEqualTo(2 * hits.hits);
        assertThat(sum.withinLimit).as(what).isEqualTo(hits.withinLimit);
        assertThat(sum.refusedByOther).as(what).isEqualTo(hits.refusedByOther);
        if (!shadowRules) { // A shadow's status does not show that the store could not decide.
          assertThat(sum.undecided).as(what).isEqualTo(hits.undecided);
        }
        seen.addAll(sum.seen);
      }
    }
    assertThat(seen)
        .as("every class has been counted in")
        .containsExactlyInAnyOrder(
            "within_limit",
            "tolerated",
            "over_limit",
            "incomplete",
            "refused_by_other",
            "undecided",
            "near_limit",
            "shadow_mode");
  }

  /** The sum of the counters of one rule over its values. */
  private static final class Sum {
    private final Set<String> seen = new HashSet<>();
    long hits;
    long classes;
    long marks;
    long withinLimit;
    long refusedByOther;
    long undecided;

    private long one(String name, long count) {
      assertThat(count).as(name).isNotNegative();
      if (count > 0) {
        seen.add(name);
      }
      return count;
    }
  }

  private static Sum sum(Engine engine, String yaml, String path) {
    String key = path.substring("d.".length());
    Sum sum = new Sum();
    for (RuleMetrics each : engine.metrics().rules()) {
      if (!each.path().equals(path) && !each.path().startsWith(path + "_")) {
        continue;
      }
      assertThat(each.policy()).isEqualTo(yaml.contains(key + "-limit") ? key + "-limit" : path);
      sum.hits += each.totalHits();
      sum.classes +=
          sum.one("within_limit", each.withinLimit())
              + sum.one("tolerated", each.tolerated())
              + sum.one("over_limit", each.overLimit())
              + sum.one("incomplete", each.incomplete())
              + sum.one("refused_by_other", each.refusedByOther())
              + sum.one("undecided", each.undecided());
      sum.marks +=
          sum.one("near_limit", each.nearLimit()) + sum.one("shadow_mode", each.shadowMode());
      sum.withinLimit += each.withinLimit();
      sum.refusedByOther += each.refusedByOther();
      sum.undecided += each.undecided();
    }
    return sum;
  }
}
