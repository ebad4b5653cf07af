package dev.weir.config.follow;

import static dev.weir.config.RecordsUnderTest.subject;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.OwnLimit;
import dev.weir.config.RecordsUnderTest;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.internal.follow.RecordLimits;
import dev.weir.config.internal.follow.SubjectLoads;
import dev.weir.config.rows.Tree;
import dev.weir.engine.SubjectLimits;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cache over a store in memory, with time that stands still and loaders that a test runs. */
class SubjectCacheTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final long START = 1_800_000_000_000_000_000L;

  /** The rule has the number 100, its plan 10. */
  private static final Map<String, String> RULES =
      Map.of(
          "shop.yaml",
          """
          domain: shop
          plans:
            small: {r: {requests_per_unit: 10}}
          descriptors:
            - key: user
              rate_limit: {name: r, unit: hour, requests_per_unit: 100, by: user}
          """);

  @TempDir Path folder;

  private final FakeTicker ticker = new FakeTicker(START);
  private final RecordsUnderTest store = new RecordsUnderTest(ticker);

  private ConfigClient.Builder builder() {
    return ConfigClient.builder(store, "n1").ticker(ticker).wall(ticker);
  }

  private ConfigClient open(ConfigClient.Builder builder) {
    return new ConfigClient(builder, bound -> bound, Runnable::run, store.tasks::add);
  }

  private static @Nullable SubjectLimits find(ConfigClient client, String value) {
    return client.subjects().find("shop", "user", value);
  }

  /** Loads a subject with the loaders; returns null if it cannot be known. */
  private @Nullable SubjectLimits load(ConfigClient client, String value) {
    List<@Nullable SubjectLimits> answers = asked(client, value);
    store.work();
    assertThat(answers).hasSize(1);
    return answers.get(0);
  }

  private static List<@Nullable SubjectLimits> asked(ConfigClient client, String value) {
    List<@Nullable SubjectLimits> answers = new ArrayList<>();
    client.subjects().load("shop", "user", value, answers::add);
    return answers;
  }

  private static SubjectLimits own(long requests) {
    return new SubjectLimits(null, Map.of("r", new SubjectLimits.OwnLimit(requests)));
  }

  private void put(String value, long requests) {
    store.put(SubjectRecord.ofLimits(subject(value), OwnLimit.of("r", requests)));
  }

  @Test
  void subject_isAskedForOnceAndThenKnown() {
    put("alice", 7);
    store.put(SubjectRecord.ofPlan(subject("bob"), "gold"));
    store.put(SubjectRecord.ofPlan(subject("carol"), "gold"));
    try (ConfigClient client = open(builder())) {
      assertThat(find(client, "alice")).isNull();
      assertThat(load(client, "alice")).isEqualTo(own(7));
      assertThat(find(client, "alice")).isEqualTo(own(7));
      assertThat(load(client, "nobody")).isEqualTo(SubjectLimits.NONE);
      assertThat(find(client, "nobody")).isSameAs(SubjectLimits.NONE);
      assertThat(load(client, "bob")).isEqualTo(new SubjectLimits("gold", Map.of()));
      assertThat(load(client, "carol")).isSameAs(load(client, "bob"));
      assertThat(store.queries).isEqualTo(4);
      SubjectCacheStatus status = client.subjectStatus();
      assertThat(status.known()).isEqualTo(3);
      assertThat(status.absent()).isEqualTo(1);
      assertThat(status.limits()).isEqualTo(2);
      assertThat(status.hits()).isEqualTo(2);
      assertThat(status.misses()).isEqualTo(1);
      assertThat(status.loads()).isEqualTo(4);
      assertThat(status.staleNanos()).isZero();
      assertThat(client.subjects().find("shop", "ip", "alice")).isNull();
      assertThat(client.subjects().find("shopuser", "", "alice")).isNull();
    }
  }

  @Test
  void changedRecord_isUnknownAfterThePollAndThenAskedForAgain() {
    put("alice", 7);
    try (ConfigClient client = open(builder())) {
      load(client, "alice");
      load(client, "nobody");
      put("alice", 8);
      assertThat(find(client, "alice")).isEqualTo(own(7));
      ticker.advance(SECOND);
      assertThat(find(client, "alice")).isNull();
      assertThat(find(client, "nobody")).isEqualTo(SubjectLimits.NONE);
      assertThat(load(client, "alice")).isEqualTo(own(8));
      store.delete(subject("alice"));
      put("nobody", 3);
      client.feed().hint();
      assertThat(load(client, "alice")).isEqualTo(SubjectLimits.NONE);
      assertThat(load(client, "nobody")).isEqualTo(own(3));
    }
  }

  @Test
  void answerThatIsLaterThanTheChange_isThrownAway() {
    put("alice", 7);
    try (ConfigClient client = open(builder())) {
      store.afterRead =
          () -> {
            store.afterRead = null;
            put("alice", 8);
            client.feed().hint();
          };
      assertThat(load(client, "alice")).isEqualTo(own(8));
      assertThat(find(client, "alice")).isEqualTo(own(8));
      assertThat(client.subjectStatus().again()).isEqualTo(1);
      assertThat(store.queries).isEqualTo(2);
    }
  }

  @Test
  void manySubjects_areAskedForTogetherAndByTwoAtMost() {
    try (ConfigClient client = open(builder())) {
      List<List<@Nullable SubjectLimits>> answers = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        answers.add(asked(client, "s" + i));
        answers.add(asked(client, "s" + i));
      }
      assertThat(store.tasks).hasSize(2);
      store.work();
      assertThat(answers).allSatisfy(each -> assertThat(each).hasSize(1).doesNotContainNull());
      assertThat(store.queries).isEqualTo(2 + 10);
      assertThat(client.subjectStatus().loads()).isEqualTo(1_000);
    }
  }

  @Test
  void tooMany_areNotKnown() {
    try (ConfigClient client = open(builder())) {
      for (int i = 0; i < SubjectLoads.MAX_PENDING; i++) {
        assertThat(asked(client, "s" + i)).isEmpty();
      }
      List<@Nullable SubjectLimits> answers = asked(client, "one more");
      assertThat(answers).hasSize(1).containsOnlyNulls();
    }
  }

  /** Subjects of the longest kind, while the store does not answer. */
  @Test
  void subjectsThatAreTooLongTogether_areNotKnown() {
    try (ConfigClient client = open(builder())) {
      int length = Subject.MAX_VALUE_BYTES;
      int waiting = 0;
      while (asked(client, String.format("%0" + length + "d", waiting)).isEmpty()) {
        waiting++;
      }
      assertThat((long) waiting * length)
          .isBetween(
              SubjectLoads.MAX_PENDING_CHARACTERS - 2L * length,
              SubjectLoads.MAX_PENDING_CHARACTERS + length);
      store.work();
      assertThat(asked(client, "one more")).as("there is room again").isEmpty();
      store.work();
    }
  }

  @Test
  void storeThatFails_isLeftAloneForALongerAndLongerTime() {
    put("alice", 7);
    try (ConfigClient client = open(builder())) {
      store.away = true;
      List<@Nullable SubjectLimits> first = asked(client, "alice");
      asked(client, "second batch");
      List<@Nullable SubjectLimits> third = asked(client, "third");
      store.work();
      assertThat(first).hasSize(1).containsOnlyNulls();
      assertThat(third).hasSize(1).containsOnlyNulls();
      int before = store.queries;
      long rest = SubjectLoads.WAITS_NANOS.least() * 2; // Two batches have failed.
      for (int i = 0; i < 20; i++) {
        ticker.advance(rest - 1);
        assertThat(load(client, "alice")).isNull();
        assertThat(store.queries).isEqualTo(before);
        ticker.advance(1);
        asked(client, "alice");
        asked(client, "other");
        assertThat(store.tasks).hasSize(1);
        store.work();
        assertThat(store.queries).isEqualTo(++before);
        rest = Math.min(2 * rest, SubjectLoads.WAITS_NANOS.most());
      }
      store.away = false;
      ticker.advance(rest);
      assertThat(load(client, "alice")).isEqualTo(own(7));
      assertThat(client.subjectStatus().failures()).isEqualTo(22);
    }
  }

  @Test
  void storeAway_lastKnownStaysAndConvergesWithinOnePollOfItsReturn() {
    put("alice", 7);
    put("bob", 3);
    try (ConfigClient client = open(builder())) {
      load(client, "alice");
      load(client, "bob");
      load(client, "nobody");
      store.away = true;
      store.feedAway = true;
      put("alice", 8);
      for (int i = 0; i < 100_000; i++) {
        ticker.advance(SECOND);
        assertThat(find(client, "alice")).isEqualTo(own(7));
        assertThat(find(client, "nobody")).isEqualTo(SubjectLimits.NONE);
        store.work();
      }
      assertThat(store.queries).isLessThan(100_000);
      assertThat(client.subjectStatus().staleNanos()).isGreaterThan(99_990_000_000_000L);
      store.away = false;
      store.feedAway = false;
      ticker.advance(SECOND.multipliedBy(2));
      assertThat(find(client, "alice")).isNull();
      assertThat(load(client, "alice")).isEqualTo(own(8));
      assertThat(find(client, "bob")).isEqualTo(own(3));
      assertThat(store.most).isLessThanOrEqualTo(SubjectLoads.MAX_UNDER_WAY);
    }
  }

  @Test
  void feedAwayButRecordsNot_areAskedForAgainBehindAfterTheTimeToLive() {
    put("alice", 7);
    try (ConfigClient client = open(builder())) {
      load(client, "alice");
      store.feedAway = true;
      put("alice", 8);
      ticker.advance(Duration.ofSeconds(29));
      assertThat(find(client, "alice")).isEqualTo(own(7));
      assertThat(store.tasks).isEmpty();
      ticker.advance(Duration.ofSeconds(2));
      assertThat(find(client, "alice")).isEqualTo(own(7));
      assertThat(find(client, "alice")).isEqualTo(own(7));
      assertThat(store.tasks).hasSize(1);
      store.work();
      assertThat(find(client, "alice")).isEqualTo(own(8));
      assertThat(store.tasks).isEmpty();
      assertThat(store.queries).isEqualTo(2);
    }
  }

  @Test
  void maxStale_makesThemUnknown() {
    put("alice", 7);
    put("changed", 1);
    try (ConfigClient client = open(builder().maxStale(Duration.ofMinutes(10)))) {
      load(client, "alice");
      load(client, "changed");
      put("changed", 2);
      ticker.advance(SECOND);
      store.feedAway = true;
      store.away = true;
      assertThat(find(client, "changed")).isNull(); // The change was reported.
      ticker.advance(Duration.ofSeconds(599));
      assertThat(find(client, "alice")).isEqualTo(own(7));
      assertThat(find(client, "changed")).isEqualTo(own(1));
      ticker.advance(Duration.ofSeconds(3));
      store.work();
      assertThat(find(client, "alice")).isNull();
      assertThat(find(client, "changed")).isNull();
    }
  }

  @Test
  void until_endsByItselfAndOnItsSafeSide() {
    ticker.set(START + 500_000_000L);
    Instant until = Instant.ofEpochSecond(START / 1_000_000_000L + 100);
    for (String value : List.of("raise", "cut", "plan-raise", "plan-cut")) {
      long number = value.endsWith("raise") ? 1_000 : 20;
      store.put(
          new SubjectRecord(
              subject(value),
              value.startsWith("plan") ? "small" : "",
              List.of(new OwnLimit("r", value.equals("plan-cut") ? 3 : number, null, null, until)),
              "",
              0));
    }
    rules();
    try (ConfigClient client = open(builder())) {
      assertThat(client.rules().load().ruleSet()).isNotNull();
      long end = START + 100_000_000_000L;
      assertThat(end(client, "raise")).isBetween(end - 200_000_000L, end);
      assertThat(end(client, "plan-raise")).isBetween(end - 200_000_000L, end);
      assertThat(end(client, "cut")).isBetween(end, end + 200_000_000L);
      assertThat(end(client, "plan-cut")).isBetween(end, end + 200_000_000L);
    }
  }

  private long end(ConfigClient client, String value) {
    SubjectLimits limits = Objects.requireNonNull(load(client, value));
    return Objects.requireNonNull(limits.own().get("r")).untilNanos();
  }

  private void rules() {
    assertThat(Rules.parse(new TreeMap<>(RULES), RuleDefaults.DENY).problems()).isEmpty();
    store.commit(0, Tree.of(RULES), RULES.values(), RecordsUnderTest.CAUSE);
  }

  @Test
  void recordsThatCannotBeApplied_areCountedAndListed() {
    rules();
    put("new", 7);
    store.unreadable.put(subject("new"), "field: 9 (expected: 1..3; a newer version wrote it)");
    store.put(SubjectRecord.ofPlan(subject("lost"), "silver"));
    store.put(
        SubjectRecord.ofLimits(
            subject("odd"), new OwnLimit("r", 5, SECOND, null, null), OwnLimit.of("other", 6)));
    try (ConfigClient client = open(builder())) {
      assertThat(client.rules().load().ruleSet()).isNotNull();
      assertThat(load(client, "new")).isEqualTo(SubjectLimits.NONE);
      assertThat(load(client, "lost")).isEqualTo(new SubjectLimits("silver", Map.of()));
      assertThat(load(client, "odd"))
          .isEqualTo(new SubjectLimits(null, Map.of("other", new SubjectLimits.OwnLimit(6))));
      SubjectCacheStatus status = client.subjectStatus();
      assertThat(status.unreadable()).isEqualTo(2);
      assertThat(status.plansMissing()).isEqualTo(1);
      assertThat(status.problems()).hasSize(3);
      assertThat(status.problems().toString())
          .contains("a newer version wrote it")
          .contains("plan silver: not there")
          .contains("r: a window or a burst of its own");
      store.unreadable.clear();
      put("new", 8);
      ticker.advance(SECOND);
      assertThat(load(client, "new")).isEqualTo(own(8));
      assertThat(client.subjectStatus().problems()).hasSize(2);
      for (int i = 0; i < 300; i++) {
        store.put(SubjectRecord.ofPlan(subject("n" + i), "silver"));
        load(client, "n" + i);
      }
      assertThat(client.subjectStatus().problems()).hasSize(RecordLimits.MAX_PROBLEMS);
      assertThat(client.subjectStatus().plansMissing()).isEqualTo(301);
    }
  }

  @Test
  void valueThatNoStoreTakes_hasNoRecord() {
    try (ConfigClient client = open(builder())) {
      assertThat(load(client, "x".repeat(5_000))).isEqualTo(SubjectLimits.NONE);
      assertThat(load(client, "\ud800")).isEqualTo(SubjectLimits.NONE);
      assertThat(store.queries).isZero();
    }
  }

  @Test
  void serverThatStartsWhileTheStoreIsAway_goesOnWithWhatItLastKnew() throws IOException {
    rules();
    Instant until = Instant.ofEpochSecond(START / 1_000_000_000L + 7_200);
    store.put(
        new SubjectRecord(
            subject("alice"), "small", List.of(new OwnLimit("r", 7, null, null, until)), "", 0));
    store.put(SubjectRecord.ofPlan(subject("bob"), "gold"));
    Path file = folder.resolve("last");
    SubjectLimits alice;
    try (ConfigClient client = open(builder().lastKnown(file))) {
      alice = load(client, "alice");
      load(client, "bob");
      load(client, "nobody");
    }
    assertThat(file.resolveSibling("last.subjects")).exists();
    store.away = true;
    store.feedAway = true;
    // The other process has another ticker: one hour behind the same wall clock.
    FakeTicker wall = new FakeTicker(START);
    ticker.set(START - Duration.ofHours(1).toNanos());
    ConfigClient.Builder builder =
        ConfigClient.builder(store, "n1").ticker(ticker).wall(wall).lastKnown(file);
    try (ConfigClient client = open(builder)) {
      SubjectLimits now = Objects.requireNonNull(find(client, "alice"));
      assertThat(now.plan()).isEqualTo("small");
      long before =
          Objects.requireNonNull(Objects.requireNonNull(alice).own().get("r")).untilNanos();
      long after = Objects.requireNonNull(now.own().get("r")).untilNanos();
      assertThat(before - after).isEqualTo(Duration.ofHours(1).toNanos());
      assertThat(find(client, "bob")).isEqualTo(new SubjectLimits("gold", Map.of()));
      assertThat(find(client, "nobody")).isEqualTo(SubjectLimits.NONE);
      assertThat(find(client, "stranger")).isNull();
      assertThat(client.subjectStatus().stale()).isEqualTo(3);
      store.work();
      store.away = false;
      store.feedAway = false;
      ticker.advance(SECOND.multipliedBy(2));
      assertThat(find(client, "bob")).isNull(); // The record may have changed.
      assertThat(load(client, "bob")).isEqualTo(new SubjectLimits("gold", Map.of()));
    }
    Files.writeString(file.resolveSibling("last.subjects"), "nonsense");
    store.feedAway = true;
    try (ConfigClient client = open(builder().lastKnown(file))) {
      assertThat(find(client, "alice")).isNull();
    }
  }

  /** The end of the threads may wait for seconds for a store that hangs. */
  @Test
  void close_savesBeforeItEndsTheThreads() {
    Path file = folder.resolve("last");
    AtomicBoolean saved = new AtomicBoolean();
    ExecutorService loaders =
        new AbstractExecutorService() {
          @Override
          public void execute(Runnable task) {
            store.tasks.add(task);
          }

          @Override
          public void shutdown() {
            saved.set(Files.exists(file.resolveSibling("last.subjects")));
          }

          @Override
          public List<Runnable> shutdownNow() {
            return List.of();
          }

          @Override
          public boolean isShutdown() {
            return false;
          }

          @Override
          public boolean isTerminated() {
            return false;
          }

          @Override
          public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
          }
        };
    put("alice", 7);
    try (ConfigClient client =
        new ConfigClient(builder().lastKnown(file), bound -> bound, Runnable::run, loaders)) {
      load(client, "alice");
    }
    assertThat(saved).isTrue();
  }

  @Test
  void restarts_makeNothingYounger() throws IOException {
    put("alice", 7);
    put("changed", 1);
    Path file = folder.resolve("last");
    try (ConfigClient client = open(builder().lastKnown(file))) {
      load(client, "alice");
      load(client, "changed");
      put("changed", 2);
      ticker.advance(SECOND); // Found to be outdated.
      store.feedAway = true;
      store.away = true;
      ticker.advance(Duration.ofMinutes(5));
    }
    for (int restarts = 0; restarts < 2; restarts++) {
      ConfigClient.Builder builder = builder().lastKnown(file).maxStale(Duration.ofMinutes(10));
      try (ConfigClient client = open(builder)) {
        assertThat(find(client, "alice")).isEqualTo(own(7));
        assertThat(find(client, "changed")).isEqualTo(own(1));
        ticker.advance(Duration.ofSeconds(140));
        store.work();
      }
    }
    try (ConfigClient client = open(builder().lastKnown(file).maxStale(Duration.ofMinutes(10)))) {
      assertThat(find(client, "alice")).isEqualTo(own(7)); // 580 s after the last answer.
      ticker.advance(Duration.ofSeconds(25));
      assertThat(find(client, "alice")).isNull();
      assertThat(find(client, "changed")).isNull();
    }
  }

  @Test
  void whatIsKnown_isSavedOnceAMinute() throws IOException {
    Path file = folder.resolve("last");
    Path saved = folder.resolve("last.subjects");
    try (ConfigClient client = open(builder().lastKnown(file))) {
      load(client, "alice");
      ticker.advance(Duration.ofSeconds(59));
      store.work();
      assertThat(saved).doesNotExist();
      ticker.advance(SECOND);
      store.work();
      assertThat(saved).exists();
      Files.delete(saved);
      ticker.advance(Duration.ofMinutes(2)); // Nothing was loaded since then.
      store.work();
      assertThat(saved).doesNotExist();
    }
  }

  @Test
  void storeThatIsAnother_hasOtherSubjects() throws IOException {
    Path file = folder.resolve("last");
    put("alice", 7);
    try (ConfigClient client = open(builder().lastKnown(file))) {
      load(client, "alice");
    }
    RecordsUnderTest other = new RecordsUnderTest(ticker);
    ConfigClient.Builder builder =
        ConfigClient.builder(other, "n1").ticker(ticker).wall(ticker).lastKnown(file);
    try (ConfigClient client =
        new ConfigClient(builder, bound -> bound, Runnable::run, other.tasks::add)) {
      other.feedAway = true;
      ticker.advance(Duration.ofSeconds(10));
      assertThat(find(client, "alice")).isNull();
    }
  }

  @Test
  void machineThatWasSuspended_convertsEndsAnew() {
    FakeTicker wall = new FakeTicker(START);
    RecordsUnderTest suspended = new RecordsUnderTest(wall);
    suspended.commit(0, Tree.of(RULES), RULES.values(), RecordsUnderTest.CAUSE);
    Instant until = Instant.ofEpochSecond(START / 1_000_000_000L + 7_200);
    suspended.put(
        SubjectRecord.ofLimits(subject("alice"), new OwnLimit("r", 700, null, null, until)));
    ConfigClient.Builder builder = ConfigClient.builder(suspended, "n1").ticker(ticker).wall(wall);
    try (ConfigClient client =
        new ConfigClient(builder, bound -> bound, Runnable::run, suspended.tasks::add)) {
      RuleSet loaded = Objects.requireNonNull(client.rules().load().ruleSet());
      client.rules().follow(loaded, new Ignoring());
      bothAdvance(wall);
      asked(client, "alice");
      suspended.work();
      long before = end(client);
      bothAdvance(wall);
      wall.advance(Duration.ofHours(1));
      bothAdvance(wall);
      assertThat(find(client, "alice")).isNull();
      asked(client, "alice");
      suspended.work();
      long hour = Duration.ofHours(1).toNanos();
      assertThat(before - end(client)).isBetween(hour - 2_000_000L, hour + 2_000_000L);
      bothAdvance(wall);
      assertThat(find(client, "alice")).isNotNull();
    }
  }

  private void bothAdvance(FakeTicker wall) {
    wall.advance(SECOND);
    ticker.advance(SECOND);
  }

  private static long end(ConfigClient client) {
    SubjectLimits limits = Objects.requireNonNull(find(client, "alice"));
    return Objects.requireNonNull(limits.own().get("r")).untilNanos();
  }

  /** A taker that accepts every rule set. */
  private static final class Ignoring implements RuleSource.Taker {
    @Override
    public List<Problem> changed(Rules.LoadResult loaded) {
      return List.of();
    }

    @Override
    public void failed(Throwable error) {
      throw new AssertionError(error);
    }
  }
}
