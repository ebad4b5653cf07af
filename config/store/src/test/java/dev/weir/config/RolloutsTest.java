package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.config.ConfigException.Kind;
import dev.weir.config.Rollout.State;
import dev.weir.config.rows.Counts;
import dev.weir.config.rows.Tree;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rollouts among simulated servers, whose reports a test chooses. */
class RolloutsTest {
  private static final Cause CAUSE = Cause.of("test", "a test");
  private static final Duration TIME = Duration.ofMinutes(5);
  private static final Tree NEXT = Tree.of(Map.of("a.yaml", "domain: second\n"));

  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final ConfigStore store = ConfigStores.inMemory(ticker);

  /** The revision in force on each server. */
  private final Map<String, Long> revisions = new HashMap<>();

  private final Map<String, Counts> counts = new HashMap<>();

  @BeforeEach
  void firstRevision() {
    store.commit(
        0, Tree.of(Map.of("a.yaml", "domain: first\n")), List.of("domain: first\n"), CAUSE);
    for (String id : List.of("n1", "n2", "n3", "n4")) {
      revisions.put(id, 1L);
      counts.put(id, new Counts(1_000, 10));
      beat(id);
    }
  }

  private void beat(String id, String... problems) {
    store.beat(
        Node.builder(id)
            .revision(revisions.getOrDefault(id, 0L))
            .position(store.head().position())
            .problems(List.of(problems))
            .counts(counts.getOrDefault(id, Counts.NONE))
            .build());
  }

  private Rollout begin(int share) {
    return Rollouts.begin(
        store, 1, NEXT, List.of("domain: second\n"), new Rollouts.Plan(share, TIME, 200), CAUSE);
  }

  private void decide(String id, long asked, long refused) {
    counts.merge(id, new Counts(asked, refused), Counts::plus);
  }

  /** Makes all servers that are not named report to the store, and the first of all judge. */
  private Rollout judged(String... silent) {
    Rollout rollout = Rollouts.last(store).orElseThrow();
    String judge = "";
    for (String id : List.of("n1", "n2", "n3", "n4")) {
      if (!List.of(silent).contains(id)) {
        revisions.put(
            id, rollout.holdsBack(id, store.head()) ? rollout.before() : store.head().revision());
        beat(id);
        judge = judge.isEmpty() ? id : judge;
      }
    }
    return Rollouts.judge(store, judge).orElseThrow();
  }

  private String other(Rollout rollout) {
    return List.of("n1", "n2", "n3", "n4").stream()
        .filter(id -> !rollout.nodes().contains(id))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void someServers_areFirstAndTheOthersFollowAfterTheTime() {
    Rollout rollout = begin(26);
    assertThat(rollout.nodes()).hasSize(2).isSubsetOf("n1", "n2", "n3", "n4");
    assertThat(rollout.holdsBack(rollout.nodes().get(0), store.head())).isFalse();
    assertThat(rollout.holdsBack(other(rollout), store.head())).isTrue();
    decide(rollout.nodes().get(0), 10_000, 150);
    decide(other(rollout), 10_000, 100);
    for (int i = 0; i < 59; i++) {
      ticker.advance(Duration.ofSeconds(5));
      assertThat(judged().state()).isEqualTo(State.RUNNING);
    }
    ticker.advance(Duration.ofSeconds(5));
    assertThat(judged().state()).isEqualTo(State.DONE);
    assertThat(store.head().revision()).isEqualTo(2);
    assertThat(Rollouts.last(store).orElseThrow().holdsBack(other(rollout), store.head()))
        .isFalse();
    assertThat(Rollouts.running(store)).isEmpty();
  }

  @Test
  void shareOfRefusalsThatRises_takesTheRulesBackAtOnce() {
    Rollout rollout = begin(25);
    String first = rollout.nodes().get(0);
    decide(other(rollout), 1_000, 20);
    decide(first, 99, 99);
    assertThat(judged().state()).as("too few requests").isEqualTo(State.RUNNING);
    decide(first, 901, 0);
    Rollout ended = judged();
    assertThat(ended.state()).isEqualTo(State.UNDONE);
    assertThat(ended.outcome())
        .isEqualTo(
            "refused 9.90 % on " + first + ", 2.00 % elsewhere (expected: at most 2.00 % more)");
    Revision back = store.revision(3).orElseThrow();
    assertThat(back.tree()).isEqualTo(store.revision(1).orElseThrow().tree());
    assertThat(back.reason()).startsWith("rollout of revision 2 undone: refused 9.90 %");
    assertThat(ChangeLog.verify(store).ok()).isTrue();
  }

  @Test
  void withoutTrafficElsewhere_theFirstAreComparedWithThemselvesBefore() {
    Rollout rollout = begin(25);
    decide(rollout.nodes().get(0), 1_000, 20);
    assertThat(judged().state()).isEqualTo(State.RUNNING);
    decide(rollout.nodes().get(0), 1_000, 60);
    assertThat(judged().outcome()).contains("refused 4.00 %", "1.00 % before");
  }

  @Test
  void serverThatWasStartedAnew_isCountedFromItsStart() {
    Rollout rollout = begin(25);
    counts.put(rollout.nodes().get(0), new Counts(500, 5));
    decide(other(rollout), 500, 5);
    assertThat(judged().state()).isEqualTo(State.RUNNING);
  }

  @Test
  void serverThatRefusesTheRules_takesThemBack() {
    Rollout rollout = begin(25);
    String first = rollout.nodes().get(0);
    beat(first, "a.yaml:1:1 no such key");
    Rollout ended = Rollouts.judge(store, "n1").orElseThrow();
    assertThat(ended.outcome()).isEqualTo(first + " refused it: a.yaml:1:1 no such key");
    assertThat(store.head().revision()).isEqualTo(3);
  }

  @Test
  void problemOfManyLines_endsARolloutLikeAnyOther() {
    Rollout rollout = begin(25);
    beat(rollout.nodes().get(0), "not put in force,\njava.lang.Exception: " + "\u754c".repeat(150));
    Rollout ended = Rollouts.judge(store, "n1").orElseThrow();
    assertThat(ended.state()).isEqualTo(State.UNDONE);
    assertThat(ended.outcome()).contains(" refused it: not put in force,?java");
    assertThat(store.head().revision()).isEqualTo(3);
  }

  @Test
  void problemOfEarlierRules_endsNoRollout() {
    for (String id : List.of("n1", "n2", "n3", "n4")) {
      beat(id, "a.yaml:1:1 no such key");
    }
    begin(25);
    assertThat(Rollouts.judge(store, "n1").orElseThrow().state()).isEqualTo(State.RUNNING);
  }

  @Test
  void serversWithRulesOfTheirOwn_takeNoPart() {
    for (String id : List.of("n1", "n2", "n3")) {
      revisions.put(id, 0L);
      beat(id);
    }
    assertThat(begin(99).nodes()).containsExactly("n4");
  }

  @Test
  void firstServersThatDie_takeTheRulesBackAtTheEnd() {
    Rollout rollout = begin(25);
    String first = rollout.nodes().get(0);
    ticker.advance(TIME.minusSeconds(1));
    assertThat(judged(first).state()).isEqualTo(State.RUNNING);
    ticker.advance(Duration.ofSeconds(1));
    assertThat(judged(first).outcome()).contains("none of the first servers");
    assertThat(store.head().revision()).isEqualTo(3);
  }

  @Test
  void onlyTheLiveServerWithTheSmallestId_judges() {
    begin(25);
    ticker.advance(TIME);
    for (String id : List.of("n2", "n3", "n4")) {
      revisions.put(id, 2L);
      beat(id);
    }
    assertThat(Rollouts.judge(store, "n3").orElseThrow().state()).isEqualTo(State.RUNNING);
    assertThat(Rollouts.judge(store, "n2").orElseThrow().state()).isNotEqualTo(State.RUNNING);
  }

  @Test
  void judgesAtTheSameTime_endItOnce() {
    Rollout rollout = begin(25);
    decide(rollout.nodes().get(0), 1_000, 900);
    FaultyConfigStore slow = new FaultyConfigStore(store);
    for (String id : List.of("n1", "n2", "n3", "n4")) {
      beat(id);
    }
    slow.atHead =
        () -> {
          slow.atHead = null;
          assertThat(Rollouts.judge(store, "n1").orElseThrow().state()).isEqualTo(State.UNDONE);
        };
    Rollout late = Rollouts.judge(slow, "n1").orElseThrow();
    assertThat(late.state()).isIn(State.RUNNING, State.UNDONE);
    assertThat(store.head().revision()).isEqualTo(3);
    assertThat(Rollouts.last(store).orElseThrow().state()).isEqualTo(State.UNDONE);
  }

  @Test
  void oneRunsAtATime_andNeedsALiveServer() {
    begin(50);
    assertThatThrownBy(
            () ->
                Rollouts.begin(store, 2, NEXT, List.of(), new Rollouts.Plan(50, TIME, 200), CAUSE))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFLICT))
        .hasMessageContaining("one runs");
    ConfigStore empty = ConfigStores.inMemory(ticker);
    assertThatThrownBy(
            () ->
                Rollouts.begin(empty, 0, NEXT, List.of(), new Rollouts.Plan(50, TIME, 200), CAUSE))
        .hasMessageContaining("no server is live");
  }

  @Test
  void conflict_leavesNoRolloutBehind() {
    store.commit(1, NEXT, List.of("domain: second\n"), CAUSE);
    assertThatThrownBy(() -> begin(50))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFLICT));
    assertThat(Rollouts.running(store)).isEmpty();
    assertThat(store.head().revision()).isEqualTo(2);
  }

  @Test
  void rulesChangedMeanwhile_endIt() {
    begin(50);
    store.commit(
        2, Tree.of(Map.of("a.yaml", "domain: third\n")), List.of("domain: third\n"), CAUSE);
    Rollout ended = judged();
    assertThat(ended.outcome()).isEqualTo("the rules were changed to revision 3");
    assertThat(store.head().revision()).isEqualTo(3);
  }

  @Test
  void entry_isReadAsItWasWritten() {
    Rollout rollout = begin(50);
    assertThat(Rollouts.last(store)).contains(rollout);
    assertThatThrownBy(() -> Rollout.read(new Entry(Rollout.KIND, Rollout.NAME, "{}", 1)))
        .isInstanceOfSatisfying(
            ConfigException.class, e -> assertThat(e.kind()).isEqualTo(Kind.DAMAGED));
    assertThatIllegalArgumentException().isThrownBy(() -> new Rollouts.Plan(0, TIME, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> begin(100));
  }
}
