package dev.weir.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Fingerprint;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.replay.DryRunResult.Counts;
import dev.weir.replay.DryRunResult.KeyChange;
import dev.weir.replay.DryRunResult.RuleChange;
import dev.weir.replay.internal.judge.KeyChanges;
import dev.weir.replay.internal.judge.KeyNames;
import dev.weir.replay.internal.judge.RuleKey;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.Trials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DryRunTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long HOUR = 3_600 * SECOND;
  private static final long START = 1_790_000_000 * SECOND;

  private final FakeTicker ticker = new FakeTicker(START);
  private final RecordedTraffic traffic = new RecordedTraffic(ticker);
  private final Masking masking = new Masking(new byte[32]);

  private static RuleSet rules(String text) {
    Rules.LoadResult loaded = Rules.parse("r.yaml", text);
    return Objects.requireNonNull(loaded.ruleSet(), loaded.problems()::toString);
  }

  private static RuleSet perMinute(long permits, String more) {
    return rules(
        "domain: shop\nplans:\n  gold: {per-user: {requests_per_unit: 50}}\ndescriptors:\n"
            + "  - key: user\n    rate_limit:\n      name: per-user\n      unit: minute\n"
            + "      algorithm: fixed-window\n      requests_per_unit: "
            + permits
            + "\n"
            + more);
  }

  private static DryRun.Change change(RuleSet before, RuleSet after) {
    return new DryRun.Change(before, after, Map.of(), Map.of(), KeyPolicies.NONE);
  }

  private DryRun.Done run(DryRun.Change change) {
    return run(change, DryRun.Limits.DEFAULTS, traffic);
  }

  private DryRun.Done run(DryRun.Change change, DryRun.Limits limits, RecordedTraffic recorded) {
    RecordedRequests requests = recorded.requests(HOUR, limits.requests());
    return Objects.requireNonNull(
        DryRun.run(change, requests, limits, masking, replayed -> {}, () -> false, () -> 0));
  }

  private void asks(String user, int times) {
    for (int i = 0; i < times; i++) {
      traffic.add(Request.of("shop", "user", user));
      ticker.advance(1_000_000);
    }
  }

  @Test
  void lowerLimit_showsWhoWouldBeRefused() {
    asks("alice", 7);
    asks("bob", 3);
    asks("christopher", 12);
    DryRunResult result = run(change(perMinute(10, ""), perMinute(5, ""))).result();
    assertThat(result.before()).isEqualTo(new Counts(22, 20, 2, 0, 0));
    assertThat(result.after()).isEqualTo(new Counts(22, 13, 9, 0, 0));
    assertThat(result.rules())
        .containsExactly(
            new RuleChange(
                "per-user",
                "shop.user",
                new Counts(22, 20, 2, 0, 0),
                new Counts(22, 13, 9, 0, 0),
                true));
    String first = "user=" + masking.masked("christopher");
    assertThat(result.refusedMore())
        .containsExactly(
            new KeyChange("per-user", "shop.user", first, 2, 7),
            new KeyChange("per-user", "shop.user", "user=" + masking.masked("alice"), 0, 2));
    assertThat(result.refusedLess()).isEmpty();
    assertThat(result.keysExact()).isTrue();
    assertThat(result.came()).isEqualTo(22);
    assertThat(result.replayed()).isEqualTo(22);
    assertThat(result.keysPerReplayed()).isEqualTo(1);
    assertThat(result.end()).isEqualTo(DryRunResult.End.COMPLETE);
    assertThat(result.warnings()).isEmpty();
    assertThat(result.fromNanos()).isEqualTo(START);
    assertThat(result.toNanos()).isEqualTo(START + 21 * 1_000_000);
  }

  @Test
  void higherLimit_showsWhoWouldBeAdmitted() {
    asks("alice", 7);
    DryRunResult result = run(change(perMinute(5, ""), perMinute(6, ""))).result();
    assertThat(result.refusedMore()).isEmpty();
    assertThat(result.refusedLess()).extracting(KeyChange::before).containsExactly(2L);
    assertThat(result.refusedLess()).extracting(KeyChange::after).containsExactly(1L);
  }

  @Test
  void anyTraffic_isCountedAsAnOracleDoes() {
    int runs = 20;
    SplittableRandom seeds = Trials.random("dry runs", runs);
    for (int round = 0; round < runs; round++) {
      long seed = seeds.nextLong();
      Random random = new Random(seed);
      FakeTicker time = new FakeTicker(START + random.nextInt(1_000_000_000));
      RecordedTraffic recorded = new RecordedTraffic(time, 1 << 20, Fingerprint.seeded(seed, 1));
      int users = 1 + random.nextInt(40);
      long[] limits = {random.nextInt(12), random.nextInt(12)};
      String record = "user-" + random.nextInt(users);
      long own = random.nextInt(20);
      Oracle[] sides = {new Oracle(limits[0]), new Oracle(limits[1])};
      sides[1].own.put(record, own);
      int count = 1 + random.nextInt(3_000);
      for (int i = 0; i < count; i++) {
        time.advance((long) random.nextInt(1_000) * 1_000_000);
        String user = "user-" + random.nextInt(users);
        long permits = random.nextInt(5) == 0 ? 2 : 1;
        recorded.add(new Request("shop", List.of(Descriptor.of("user", user)), permits));
        sides[0].request(user, permits, time.nanos());
        sides[1].request(user, permits, time.nanos());
      }
      DryRun.Change change =
          new DryRun.Change(
              perMinute(limits[0], "      by: user\n"),
              perMinute(limits[1], "      by: user\n"),
              Map.of(),
              Map.of(
                  new DryRun.Subject("shop", "user", record),
                  new SubjectLimits(null, Map.of("per-user", new SubjectLimits.OwnLimit(own)))),
              KeyPolicies.NONE);
      DryRunResult result = run(change, DryRun.Limits.DEFAULTS, recorded).result();
      assertThat(result.before().refused()).as("seed %d", seed).isEqualTo(sides[0].refused());
      assertThat(result.after().refused()).as("seed %d", seed).isEqualTo(sides[1].refused());
      assertThat(result.replayed()).as("seed %d", seed).isEqualTo(count);
      Map<String, Long> more = new HashMap<>();
      Map<String, Long> less = new HashMap<>();
      for (int user = 0; user < users; user++) {
        String name = "user-" + user;
        long change1 =
            sides[1].refused.getOrDefault(name, 0L) - sides[0].refused.getOrDefault(name, 0L);
        if (change1 != 0) {
          (change1 > 0 ? more : less).merge("user=" + masking.masked(name), change1, Long::sum);
        }
      }
      assertKeys(result.refusedMore(), more, seed);
      assertKeys(result.refusedLess(), less, seed);
    }
  }

  private static void assertKeys(List<KeyChange> keys, Map<String, Long> expected, long seed) {
    assertThat(keys).as("seed %d", seed).hasSize(Math.min(20, expected.size()));
    for (KeyChange key : keys) {
      assertThat(key.after() - key.before())
          .as("seed %d, %s", seed, key)
          .isEqualTo(expected.get(key.key()));
    }
    long least =
        keys.stream().mapToLong(each -> Math.abs(each.after() - each.before())).min().orElse(0);
    long larger = expected.values().stream().filter(each -> Math.abs(each) > least).count();
    assertThat(larger).as("seed %d", seed).isLessThan(20);
  }

  /** An oracle with fixed windows of the clock's minutes, counted in a map. */
  private static final class Oracle {
    private final long limit;
    private final Map<String, Long> own = new HashMap<>();
    private final Map<List<Object>, Long> used = new HashMap<>();
    private final Map<String, Long> refused = new HashMap<>();

    Oracle(long limit) {
      this.limit = limit;
    }

    void request(String user, long permits, long nanos) {
      List<Object> window = List.of(user, Math.floorDiv(nanos, 60 * SECOND));
      long sum = used.getOrDefault(window, 0L) + permits;
      if (sum <= own.getOrDefault(user, limit)) {
        used.put(window, sum);
      } else {
        refused.merge(user, 1L, Long::sum);
      }
    }

    long refused() {
      return refused.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  @Test
  void rulesOfBothSides_areListedEach() {
    asks("alice", 3);
    RuleSet after =
        rules(
            """
            domain: shop
            descriptors:
              - key: user
                value: alice
                rate_limit:
                  {name: alice, unit: minute, requests_per_unit: 1}
            """);
    DryRunResult result = run(change(perMinute(2, ""), after)).result();
    assertThat(result.rules())
        .containsExactlyInAnyOrder(
            new RuleChange("per-user", "shop.user", new Counts(3, 2, 1, 0, 0), null, true),
            new RuleChange("alice", "shop.user_alice", null, new Counts(3, 1, 2, 0, 0), true));
    // A value that a rule names is not secret.
    assertThat(result.refusedMore()).extracting(KeyChange::key).containsExactly("user=alice");
    assertThat(result.refusedLess())
        .extracting(KeyChange::key)
        .containsExactly("user=" + masking.masked("alice"));
  }

  @Test
  void shadowMode_isCountedBesideAndRefusesNothing() {
    asks("alice", 3);
    RuleSet after = perMinute(1, "    shadow_mode: true\n");
    DryRunResult result = run(change(perMinute(1, ""), after)).result();
    assertThat(result.after()).isEqualTo(new Counts(3, 3, 0, 2, 0));
    assertThat(result.rules().get(0).after()).isEqualTo(new Counts(3, 3, 0, 2, 0));
  }

  @Test
  void domains_areDecidedEachByTheirOwnRules() {
    asks("alice", 3);
    traffic.add(Request.of("other", "user", "alice"));
    DryRunResult result = run(change(perMinute(2, ""), perMinute(3, ""))).result();
    assertThat(result.before()).isEqualTo(new Counts(4, 3, 1, 0, 0));
    assertThat(result.after()).isEqualTo(new Counts(4, 4, 0, 0, 0));
  }

  @Test
  void queues_areServedOnVirtualTime() {
    asks("alice", 4);
    RuleSet queued =
        rules(
            """
            domain: shop
            descriptors:
              - key: user
                rate_limit:
                  name: per-user
                  unit: second
                  requests_per_unit: 1
                  on_limit: {queue: {requests: 1, wait: 10s}}
            """);
    DryRun.Done done = run(change(perMinute(1, ""), queued));
    assertThat(done.result().before().refused()).isEqualTo(3);
    assertThat(done.result().after().refused()).isEqualTo(2);
    assertThat(done.page()).contains("Queues");
  }

  @Test
  void recordOfPlan_isLookedUpAndTheSameForBothSides() {
    AtomicInteger loads = new AtomicInteger();
    KeyPolicies late =
        new KeyPolicies() {
          @Override
          public @Nullable SubjectLimits find(String domain, String key, String value) {
            return null;
          }

          @Override
          public void load(
              String domain,
              String key,
              String value,
              Consumer<? super @Nullable SubjectLimits> done) {
            loads.incrementAndGet();
            done.accept(value.equals("alice") ? new SubjectLimits("gold", Map.of()) : null);
          }
        };
    asks("alice", 60);
    asks("bob", 60);
    DryRun.Change change =
        new DryRun.Change(
            perMinute(10, "      by: user\n"),
            perMinute(10, "      by: user\n"),
            Map.of(),
            Map.of(new DryRun.Subject("shop", "user", "alice"), SubjectLimits.NONE),
            late);
    DryRunResult result = run(change).result();
    assertThat(result.before().refused()).isEqualTo(10 + 50);
    assertThat(result.after().refused()).isEqualTo(50 + 50);
    assertThat(result.unknownSubjects()).isEqualTo(1);
    assertThat(result.warnings()).hasSize(1).first().asString().startsWith("1 subjects' records");
    assertThat(loads).hasValue(2);
  }

  @Test
  void page_showsBothSidesAndNoValue() {
    asks("mallory.example.org", 12);
    asks("<script>alert(1)</script>", 12);
    DryRun.Change change =
        new DryRun.Change(
            perMinute(10, ""),
            perMinute(2, ""),
            Map.of("shop.yaml", "domain: shop # <b>"),
            Map.of(),
            KeyPolicies.NONE);
    DryRun.Done done = run(change);
    assertThat(done.page())
        .contains("Weir dry run", "Before and after", "Refused more often", "ma\u2026g\u00b7")
        .contains("shop.yaml", "domain: shop # &lt;b&gt;", "Most refused keys", "Busiest windows")
        .doesNotContain("mallory", "alert(1)", "<script");
    assertThat(done.result().toString()).contains("ma\u2026g\u00b7").doesNotContain("mallory");
  }

  @Test
  void strangeValues_areNamedApart() {
    KeyNames names = KeyNames.masked(masking);
    RuleSet rules =
        rules(
            """
            domain: d
            descriptors:
              - key: a
                descriptors:
                  - key: b
                    rate_limit: {unit: minute, requests_per_unit: 1}
            """);
    List<String> shown = new ArrayList<>();
    for (String[] each : new String[][] {{"1:a", "2"}, {"", "1-"}, {"x,b=y", "3:abc+"}}) {
      Descriptor descriptor = Descriptor.of("a", each[0], "b", each[1]);
      String name = names.of(rules.rules().get(0), descriptor).key();
      assertThat(names.shown(name))
          .isEqualTo("a=" + masking.masked(each[0]) + ",b=" + masking.masked(each[1]));
      shown.add(name);
    }
    assertThat(shown).doesNotHaveDuplicates();
  }

  @Test
  void mostRequests_endIt() {
    asks("alice", 2_000);
    DryRun.Limits limits = new DryRun.Limits(700, Duration.ofSeconds(30), 1_000, 1 << 20);
    DryRunResult result = run(change(perMinute(5, ""), perMinute(6, "")), limits, traffic).result();
    assertThat(result.end()).isEqualTo(DryRunResult.End.REQUESTS);
    assertThat(result.replayed()).isEqualTo(700);
    assertThat(result.before().asked()).isEqualTo(700);
    assertThat(result.after().asked()).isEqualTo(700);
    assertThat(result.came()).isEqualTo(2_000);
    assertThat(result.warnings()).hasSize(1);
    assertThat(result.toNanos()).isEqualTo(START + 699 * 1_000_000L);
  }

  @Test
  void processorTime_endsIt() {
    asks("alice", 2_000);
    AtomicInteger looks = new AtomicInteger();
    DryRun.Done done =
        DryRun.run(
            change(perMinute(5, ""), perMinute(6, "")),
            traffic.requests(HOUR, Long.MAX_VALUE),
            DryRun.Limits.DEFAULTS,
            masking,
            replayed -> {},
            () -> false,
            () -> looks.getAndIncrement() * 10L * SECOND);
    DryRunResult result = Objects.requireNonNull(done).result();
    assertThat(result.end()).isEqualTo(DryRunResult.End.PROCESSOR_TIME);
    assertThat(result.replayed()).isEqualTo(2 * 256);
    assertThat(result.before().asked()).isEqualTo(512);
  }

  @Test
  void cancel_endsItWithoutResult() {
    asks("alice", 2_000);
    List<Long> progress = new ArrayList<>();
    DryRun.Done done =
        DryRun.run(
            change(perMinute(5, ""), perMinute(6, "")),
            traffic.requests(HOUR, Long.MAX_VALUE),
            DryRun.Limits.DEFAULTS,
            masking,
            progress::add,
            () -> progress.size() == 3,
            () -> 0);
    assertThat(done).isNull();
    assertThat(progress).containsExactly(0L, 256L, 512L);
  }

  @Test
  void sample_saysItsShareAndWhichRulesAreInPart() {
    FakeTicker time = new FakeTicker(START);
    RecordedTraffic small = new RecordedTraffic(time, 1 << 20);
    for (int i = 0; i < 200_000; i++) {
      time.advance(10_000);
      small.add(
          new Request(
              "shop",
              List.of(Descriptor.of("user", "user-" + i % 60_000), Descriptor.of("path", "/")),
              1));
    }
    RuleSet rules =
        perMinute(
            1, "  - key: path\n    rate_limit: {name: path, unit: hour, requests_per_unit: 9}\n");
    DryRunResult result = run(change(rules, rules), DryRun.Limits.DEFAULTS, small).result();
    assertThat(result.came()).isEqualTo(200_000);
    assertThat(result.keysPerReplayed()).isGreaterThan(1);
    assertThat(result.replayed() * result.keysPerReplayed()).isBetween(150_000L, 250_000L);
    for (RuleChange rule : result.rules()) {
      assertThat(rule.whole()).isEqualTo(rule.rule().equals("per-user"));
    }
    assertThat(result.warnings()).hasSize(1).first().asString().startsWith("One key in ");
  }

  @Test
  void fullStore_isSaid() {
    for (int i = 0; i < 200; i++) {
      asks("user-" + i, 1);
    }
    DryRun.Limits limits = new DryRun.Limits(1_000, Duration.ofSeconds(30), 50, 1 << 20);
    DryRunResult result = run(change(perMinute(5, ""), perMinute(6, "")), limits, traffic).result();
    assertThat(result.after().trouble()).isEqualTo(150);
    assertThat(result.warnings()).hasSize(1).first().asString().startsWith("150 requests would");
  }

  @Test
  void elasticRules_areSaidToBeHard() {
    asks("alice", 3);
    RuleSet elastic = perMinute(1, "      throttle: {elastic: 70%}\n");
    assertThat(run(change(elastic, elastic)).result().warnings())
        .containsExactly("The load is not recorded: elastic rules are replayed as hard ones.");
  }

  @Test
  void limitsAtTheSameTime_areSaidToCountForTheirHold() {
    asks("alice", 3);
    RuleSet seats =
        rules(
            "domain: shop\ndescriptors:\n  - key: user\n    rate_limit: {concurrency: 2, hold: 9s}\n");
    assertThat(run(change(seats, seats)).result().warnings())
        .containsExactly(
            "How long requests take is not recorded: at a limit at the same time, each counts for"
                + " its hold.");
  }

  @Test
  void manyRefusedKeys_keepTheLargestDifferences() {
    KeyChanges changes = new KeyChanges(100);
    ReplayTally.Listener after = changes.side(true);
    RuleSet rules = perMinute(1, "");
    for (int i = 0; i < 5_000; i++) {
      after.refused(new RuleKey(rules.rules().get(0), "key-" + i));
      after.refused(new RuleKey(rules.rules().get(0), "often"));
    }
    assertThat(changes.exact()).isFalse();
    KeyChange first = changes.top(1, true, KeyNames.PLAIN).get(0);
    assertThat(first.key()).isEqualTo("often");
    assertThat(first.after()).isEqualTo(5_000);
  }

  @Test
  void brokenSource_isUnknown() {
    asks("alice", 3);
    KeyPolicies broken =
        new KeyPolicies() {
          @Override
          public @Nullable SubjectLimits find(String domain, String key, String value) {
            return null;
          }

          @Override
          public void load(
              String domain,
              String key,
              String value,
              Consumer<? super @Nullable SubjectLimits> done) {
            throw new IllegalStateException("broken");
          }
        };
    RuleSet rules = perMinute(2, "      by: user\n");
    DryRunResult result = run(new DryRun.Change(rules, rules, Map.of(), Map.of(), broken)).result();
    assertThat(result.before().refused()).isEqualTo(1);
    assertThat(result.unknownSubjects()).isEqualTo(1);
  }
}
