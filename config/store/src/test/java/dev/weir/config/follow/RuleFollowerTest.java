package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.weir.FailureMode;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.FaultyConfigStore;
import dev.weir.config.FaultyConfigStore.Fault;
import dev.weir.config.ForwardingConfigStore;
import dev.weir.config.Node;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.rows.Tree;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A follower of a store in memory, with time that stands still and one thread for everything. */
class RuleFollowerTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @TempDir Path folder;

  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final ConfigStore inner = ConfigStores.inMemory(ticker);
  private final FaultyConfigStore store = new FaultyConfigStore(inner);
  private final Taker taker = new Taker();

  /** A taker that puts every sound rule set in force, unless a test changes that. */
  private static final class Taker implements RuleSource.Taker {
    final List<String> inForce = new ArrayList<>();
    final List<List<Problem>> refused = new ArrayList<>();
    final List<Throwable> failures = new ArrayList<>();
    @Nullable Throwable thrown;

    @Override
    public List<Problem> changed(Rules.LoadResult loaded) {
      if (thrown instanceof Error error) {
        throw error;
      }
      if (thrown instanceof RuntimeException exception) {
        throw exception;
      }
      RuleSet rules = loaded.ruleSet();
      if (rules == null) {
        refused.add(loaded.problems());
        return loaded.problems();
      }
      inForce.addAll(rules.domains());
      return List.of();
    }

    @Override
    public void failed(Throwable error) {
      failures.add(error);
    }
  }

  @BeforeEach
  void firstRevision() {
    commit(Map.of("a.yaml", "domain: first\n"));
  }

  private void commit(Map<String, String> files) {
    inner.commit(
        inner.head().revision(), Tree.of(files), files.values(), Cause.of("test", "a test"));
  }

  private RuleFollower.Builder builder() {
    return RuleFollower.builder(store, "n1")
        .shownAs("10.0.0.1:8080", "1.0")
        .lastKnown(folder.resolve("last-known"))
        .patience(Duration.ZERO)
        .ticker(ticker);
  }

  private static RuleFollower build(RuleFollower.Builder builder) {
    return new RuleFollower(builder, bound -> bound, Runnable::run);
  }

  /** Returns a follower that has loaded and follows. */
  private RuleFollower started() {
    RuleFollower follower = build(builder());
    follower.follow(Objects.requireNonNull(follower.load().ruleSet()), taker);
    return follower;
  }

  private static @Nullable RuleSet rules(Rules.LoadResult loaded) {
    return loaded.ruleSet();
  }

  private static String problems(Rules.LoadResult loaded) {
    return loaded.problems().toString();
  }

  @Test
  void newRevision_isHandedOnOnceWithinTheInterval() {
    try (RuleFollower follower = started()) {
      ticker.advance(SECOND);
      assertThat(taker.inForce).isEmpty();
      commit(Map.of("a.yaml", "domain: second\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("second");
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("second");
      assertThat(follower.status()).isEqualTo(new FollowerStatus(2, 2, 0, List.of()));
      assertThat(taker.failures).isEmpty();
    }
  }

  @Test
  void onlyTextsItLacks_areAskedFor() {
    commit(Map.of("a.yaml", "domain: a\n", "b.yaml", "domain: b\n"));
    try (RuleFollower follower = started()) {
      assertThat(store.textsAsked).hasSize(2);
      store.textsAsked.clear();
      commit(Map.of("moved.yaml", "domain: a\n", "b.yaml", "domain: other\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("other", "a");
      assertThat(store.textsAsked).containsExactly(HexHash.of("domain: other\n"));
      assertThat(follower.status().appliedRevision()).isEqualTo(3);
    }
  }

  @Test
  void brokenRevision_changesNothingHereAndIsSaidInTheStore() {
    try (RuleFollower follower = started()) {
      commit(Map.of("a.yaml", "domain: 1\nnonsense: true\n"));
      ticker.advance(SECOND);
      ticker.advance(SECOND);
      assertThat(taker.refused).hasSize(1);
      assertThat(taker.inForce).isEmpty();
      assertThat(follower.status().appliedRevision()).isEqualTo(1);
      assertThat(follower.status().headRevision()).isEqualTo(2);
      Node node = inner.nodes().get(0);
      assertThat(node.revision()).isEqualTo(1);
      assertThat(node.position()).isEqualTo(2);
      assertThat(node.problems()).isNotEmpty().allMatch(line -> line.startsWith("a.yaml:"));

      commit(Map.of("a.yaml", "domain: mended\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("mended");
      assertThat(inner.nodes().get(0).revision()).isEqualTo(3);
      assertThat(inner.nodes().get(0).problems()).isEmpty();
    }
  }

  @Test
  void storeThatIsAway_changesNothingAndIsHeardSoonAfterItsReturn() {
    try (RuleFollower follower = started()) {
      ticker.advance(SECOND);
      store.fault = Fault.AWAY;
      for (int i = 0; i < 3_600; i++) {
        ticker.advance(SECOND);
      }
      assertThat(follower.status().staleNanos()).isEqualTo(Duration.ofHours(1).toNanos());
      assertThat(follower.status().appliedRevision()).isEqualTo(1);
      assertThat(taker.failures).hasSize(1);
      commit(Map.of("a.yaml", "domain: second\n"));
      store.fault = Fault.NONE;
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).containsExactly("second");
      assertThat(follower.status().staleNanos()).isZero();
      store.fault = Fault.AWAY;
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.failures).hasSize(2);
    }
  }

  @Test
  void storeThatIsAway_isAskedOnceInARandomPartOfTwoIntervals() {
    List<Long> bounds = new ArrayList<>();
    RuleFollower follower =
        new RuleFollower(
            builder(),
            bound -> {
              bounds.add(bound);
              return bound / 4;
            },
            Runnable::run);
    try (follower) {
      follower.follow(Objects.requireNonNull(follower.load().ruleSet()), taker);
      assertThat(bounds).containsExactly(SECOND.toNanos());
      store.fault = Fault.AWAY;
      store.heads = 0;
      ticker.advance(SECOND.toNanos() / 4);
      assertThat(store.heads).isEqualTo(1);
      for (int i = 2; i < 10; i++) {
        ticker.advance(SECOND.toNanos() / 2);
        assertThat(store.heads).isEqualTo(i);
        assertThat(bounds).hasSize(i + 1).endsWith(2 * SECOND.toNanos());
      }
    }
  }

  @Test
  void revisionWithoutItsTexts_isTriedAgain() {
    try (RuleFollower follower = started()) {
      commit(Map.of("a.yaml", "domain: second\n"));
      store.fault = Fault.NO_TEXTS;
      ticker.advance(SECOND);
      assertThat(taker.inForce).isEmpty();
      assertThat(follower.status().staleNanos()).isPositive();
      store.fault = Fault.NONE;
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).containsExactly("second");
    }
  }

  @Test
  void exceptionWhileItIsPutInForce_isNotRepeatedButAnErrorIs() {
    try (RuleFollower follower = started()) {
      taker.thrown = new IllegalStateException("no");
      commit(Map.of("a.yaml", "domain: second\n"));
      ticker.advance(SECOND);
      assertThat(taker.failures).containsExactly(taker.thrown);
      taker.thrown = null;
      ticker.advance(Duration.ofSeconds(5));
      assertThat(taker.inForce).isEmpty();
      assertThat(inner.nodes().get(0).problems()).hasSize(1);
      assertThat(follower.status().appliedRevision()).isEqualTo(1);

      taker.thrown = new OutOfMemoryError("no");
      commit(Map.of("a.yaml", "domain: third\n"));
      ticker.advance(SECOND);
      ticker.advance(Duration.ofSeconds(2));
      taker.thrown = null;
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).containsExactly("third");
    }
  }

  @Test
  void server_saysThatItLives() {
    try (RuleFollower follower = started()) {
      ticker.advance(SECOND);
      assertThat(store.beats).isEqualTo(1);
      Node node = inner.nodes().get(0);
      assertThat(node.id()).isEqualTo("n1");
      assertThat(node.address()).isEqualTo("10.0.0.1:8080");
      assertThat(node.revision()).isEqualTo(1);
      ticker.advance(SECOND).advance(SECOND);
      assertThat(store.beats).isEqualTo(1);
      ticker.advance(SECOND);
      assertThat(store.beats).isEqualTo(2);
      commit(Map.of("a.yaml", "domain: second\n"));
      ticker.advance(SECOND);
      assertThat(store.beats).isEqualTo(3);

      store.fault = Fault.NO_BEATS;
      commit(Map.of("a.yaml", "domain: third\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("second", "third");
      assertThat(follower.status().staleNanos()).isZero();
      assertThat(taker.failures).hasSize(1);
    }
  }

  @Test
  void anotherStoreOrAnOlderOne_isFollowed() {
    commit(Map.of("a.yaml", "domain: second\n"));
    ConfigStore[] current = {inner};
    ConfigStore switching =
        new ForwardingConfigStore() {
          @Override
          protected ConfigStore delegate() {
            return current[0];
          }
        };
    RuleFollower follower = build(RuleFollower.builder(switching, "n1").ticker(ticker));
    try (follower) {
      follower.follow(Objects.requireNonNull(follower.load().ruleSet()), taker);
      current[0] = ConfigStores.inMemory(ticker);
      ticker.advance(SECOND);
      assertThat(taker.failures).hasSize(1);
      assertThat(taker.failures.get(0)).hasMessageContaining("those before stay in force");
      Map<String, String> files = Map.of("a.yaml", "domain: restored\n");
      current[0].commit(0, Tree.of(files), files.values(), Cause.of("test", "a test"));
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).containsExactly("restored");
    }
  }

  @Test
  void storeAwayAtTheStart_theRulesLastKnownAreTaken() {
    commit(Map.of("a.yaml", "domain: second\n"));
    try (RuleFollower before = started()) {
      ticker.advance(SECOND);
      assertThat(before.status().appliedRevision()).isEqualTo(2);
    }
    store.fault = Fault.AWAY;
    try (RuleFollower follower = build(builder())) {
      RuleSet rules = Objects.requireNonNull(follower.load().ruleSet());
      assertThat(rules.domains()).containsExactly("second");
      follower.follow(rules, taker);
      ticker.advance(Duration.ofSeconds(10));
      assertThat(follower.status().appliedRevision()).isEqualTo(2);
      assertThat(follower.status().staleNanos()).isEqualTo(10_000_000_000L);
      store.fault = Fault.NONE;
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).isEmpty();
      commit(Map.of("a.yaml", "domain: third\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("third");
    }
  }

  @Test
  void brokenRevisionAtTheStart_theRulesLastKnownAreTaken() {
    try (RuleFollower before = started()) {
      ticker.advance(SECOND);
      assertThat(before.status().appliedRevision()).isEqualTo(1);
    }
    commit(Map.of("a.yaml", "nonsense: true\n"));
    try (RuleFollower follower = build(builder())) {
      RuleSet rules = Objects.requireNonNull(follower.load().ruleSet());
      assertThat(rules.domains()).containsExactly("first");
      follower.follow(rules, taker);
      ticker.advance(SECOND);
      assertThat(taker.refused).hasSize(1);
      assertThat(inner.nodes().get(0).revision()).isEqualTo(1);
      assertThat(inner.nodes().get(0).problems()).isNotEmpty();
    }
  }

  @Test
  void storeAwayAndFileBroken_isRefusedWithBothReasons() throws IOException {
    Files.writeString(folder.resolve("last-known"), "weir-last-known 1 00000000\n{}");
    store.fault = Fault.AWAY;
    try (RuleFollower follower = build(builder())) {
      Rules.LoadResult loaded = follower.load();
      assertThat(rules(loaded)).isNull();
      assertThat(problems(loaded))
          .contains("no answer (expected: one)")
          .contains("another checksum than its content");
    }
  }

  @Test
  void storeAwayAndNoFile_isAskedUntilItAnswersOrThePatienceIsOver() {
    store.fault = Fault.AWAY;
    try (RuleFollower follower = build(builder().patience(Duration.ofMinutes(1)))) {
      long began = ticker.nanos();
      assertThat(rules(follower.load())).isNull();
      assertThat(ticker.nanos() - began).isBetween(60_000_000_000L, 62_000_000_000L);
      assertThat(store.heads).isEqualTo(31);

      store.heads = 0;
      store.atHead =
          () -> {
            if (store.heads == 5) {
              store.fault = Fault.NONE;
            }
          };
      RuleSet rules = Objects.requireNonNull(rules(follower.load()));
      assertThat(rules.domains()).containsExactly("first");
      assertThat(store.heads).isEqualTo(5);
    }
  }

  @Test
  void storeWithoutRules_isNoEmptyRuleSet() {
    ConfigStore empty = ConfigStores.inMemory(ticker);
    RuleFollower.Builder builder =
        RuleFollower.builder(empty, "n1").patience(Duration.ZERO).ticker(ticker);
    try (RuleFollower follower = build(builder)) {
      Rules.LoadResult loaded = follower.load();
      assertThat(rules(loaded)).isNull();
      assertThat(problems(loaded))
          .contains("configuration store no rules yet (expected: at least one revision)");
    }
  }

  private static RuleFollower.Builder emptyAtFirst(ConfigStore store, Path lastKnown) {
    return RuleFollower.builder(store, "n1").patience(Duration.ZERO).lastKnown(lastKnown);
  }

  @Test
  void storeThatNeverHadRules_isAnEmptyRuleSetWhereThatIsWanted() {
    RuleDefaults defaults = new RuleDefaults(FailureMode.ALLOW, 1);
    ConfigStore empty = ConfigStores.inMemory(ticker);
    Path file = folder.resolve("last-known");
    RuleFollower.Builder builder =
        emptyAtFirst(empty, file).emptyAtFirst().defaults(defaults).ticker(ticker);
    try (RuleFollower follower = build(builder)) {
      RuleSet none = Objects.requireNonNull(follower.load().ruleSet());
      assertThat(none.isEmpty()).isTrue();
      assertThat(none.defaults()).isEqualTo(defaults);
      follower.follow(none, taker);
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.failures).isEmpty();
      assertThat(file).doesNotExist();
      assertThat(empty.nodes()).extracting(Node::revision).containsExactly(0L);
      Map<String, String> files = Map.of("a.yaml", "domain: pushed\n");
      empty.commit(0, Tree.of(files), files.values(), Cause.of("test", "a test"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("pushed");
      assertThat(follower.status()).isEqualTo(new FollowerStatus(1, 1, 0, List.of()));
    }
  }

  @Test
  void storeThatLostItsRules_isNoEmptyRuleSetInAnyCase() {
    Path file = folder.resolve("last-known");
    try (RuleFollower follower = started()) {
      ticker.advance(SECOND);
      assertThat(file).exists();
      assertThat(follower.status().appliedRevision()).isEqualTo(1);
    }
    ConfigStore empty = ConfigStores.inMemory(ticker);
    RuleFollower.Builder builder = emptyAtFirst(empty, file).emptyAtFirst().ticker(ticker);
    try (RuleFollower follower = build(builder)) {
      RuleSet known = Objects.requireNonNull(follower.load().ruleSet());
      assertThat(known.domains()).containsExactly("first");
      follower.follow(known, taker);
      ticker.advance(SECOND);
      assertThat(taker.failures)
          .singleElement()
          .satisfies(e -> assertThat(e).hasMessageContaining("rules: none"));
      assertThat(taker.inForce).isEmpty();
    }
  }

  @Test
  void serverWithOtherRules_hearsTheStoreAndTakesNothing() {
    try (RuleFollower follower = build(builder().withoutRules())) {
      follower.follow(RuleSet.EMPTY, taker);
      ticker.advance(SECOND);
      commit(Map.of("a.yaml", "domain: second\n"));
      ticker.advance(SECOND);
      assertThat(taker.inForce).isEmpty();
      assertThat(taker.failures).isEmpty();
      assertThat(follower.status()).isEqualTo(new FollowerStatus(0, 2, 0, List.of()));
      assertThat(inner.nodes()).extracting(Node::revision).containsExactly(0L);
      assertThat(folder.resolve("last-known")).doesNotExist();
      store.fault = Fault.AWAY;
      ticker.advance(Duration.ofSeconds(4));
      assertThat(follower.status().staleNanos()).isPositive();
      assertThat(taker.failures).hasSize(1);
    }
  }

  @Test
  void lastKnownFileThatCannotBeWritten_harmsNothingElse() throws IOException {
    Files.createDirectory(folder.resolve("last-known"));
    Files.createFile(folder.resolve("last-known").resolve("in the way"));
    store.fault = Fault.NONE;
    RuleFollower follower = build(builder());
    try (follower) {
      follower.follow(Objects.requireNonNull(follower.load().ruleSet()), taker);
      commit(Map.of("a.yaml", "domain: second\n"));
      ticker.advance(Duration.ofSeconds(2));
      ticker.advance(Duration.ofSeconds(2));
      assertThat(taker.inForce).containsExactly("second");
      assertThat(taker.failures).hasSize(1).first().isInstanceOf(IOException.class);
      assertThat(inner.nodes().get(0).revision()).isEqualTo(2);
    }
  }

  @Test
  void rulesFromElsewhere_areReplacedByTheStores() {
    try (RuleFollower follower = build(builder())) {
      Rules.LoadResult other =
          Rules.parse(new TreeMap<>(Map.of("x.yaml", "domain: x\n")), RuleDefaults.DENY);
      follower.follow(Objects.requireNonNull(other.ruleSet()), taker);
      ticker.advance(SECOND);
      assertThat(taker.inForce).containsExactly("first");
    }
  }

  @Test
  void closedFollower_asksNothingAnyMore() {
    RuleFollower follower = started();
    follower.close();
    follower.close();
    store.heads = 0;
    ticker.advance(Duration.ofSeconds(10));
    assertThat(store.heads).isZero();
    assertThat(inner.head().revision()).isEqualTo(1);
  }

  @Test
  void badSettings_areRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().interval(Duration.ZERO))
        .withMessage("interval in ms: 0 (expected: 1..3600000)");
    assertThatIllegalArgumentException().isThrownBy(() -> build(RuleFollower.builder(store, "")));
  }
}
