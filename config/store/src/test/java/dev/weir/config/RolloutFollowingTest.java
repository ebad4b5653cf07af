package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Rollout.State;
import dev.weir.config.follow.RuleFollower;
import dev.weir.config.rows.Counts;
import dev.weir.config.rows.Tree;
import dev.weir.rules.Problem;
import dev.weir.rules.RuleSet;
import dev.weir.rules.RuleSource;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Four servers that follow one store through a rollout, with one thread and a clock of the test.
 */
class RolloutFollowingTest {
  private static final Cause CAUSE = Cause.of("test", "a test");
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Duration TIME = Duration.ofMinutes(1);

  private final FakeTicker ticker = new FakeTicker(1_800_000_000_000_000_000L);
  private final ConfigStore store = ConfigStores.inMemory(ticker);
  private final Map<String, Server> servers = new TreeMap<>();

  /** A server that notes the domain of the rules that it took last. */
  private final class Server implements RuleSource.Taker {
    final RuleFollower follower;
    String domain;
    Counts counts = Counts.NONE;

    Server(String id) {
      follower =
          new RuleFollower(
              RuleFollower.builder(store, id)
                  .patience(Duration.ZERO)
                  .counts(() -> counts)
                  .ticker(ticker),
              bound -> bound,
              Runnable::run);
      RuleSet first = Objects.requireNonNull(follower.load().ruleSet());
      domain = first.domains().iterator().next();
      follower.follow(first, this);
    }

    void decide(long asked, long refused) {
      counts = counts.plus(new Counts(asked, refused));
    }

    @Override
    public List<Problem> changed(Rules.LoadResult loaded) {
      domain = Objects.requireNonNull(loaded.ruleSet()).domains().iterator().next();
      return List.of();
    }

    @Override
    public void failed(Throwable error) {
      throw new AssertionError(error);
    }
  }

  @BeforeEach
  void start() {
    store.commit(0, tree("old"), List.of(text("old")), CAUSE);
    for (String id : List.of("n1", "n2", "n3", "n4")) {
      servers.put(id, new Server(id));
    }
    pass(SECOND);
  }

  @AfterEach
  void stop() {
    servers.values().forEach(server -> server.follower.close());
  }

  private static String text(String domain) {
    return "domain: " + domain + "\n";
  }

  private static Tree tree(String domain) {
    return Tree.of(Map.of("a.yaml", text(domain)));
  }

  private Rollout begin() {
    return Rollouts.begin(
        store, 1, tree("new"), List.of(text("new")), new Rollouts.Plan(50, TIME, 100), CAUSE);
  }

  private void pass(Duration time) {
    for (long second = 0; second < time.toSeconds(); second++) {
      ticker.advance(SECOND);
    }
  }

  private List<String> with(String domain) {
    List<String> ids = new ArrayList<>();
    servers.forEach(
        (id, server) -> {
          if (server.domain.equals(domain)) {
            ids.add(id);
          }
        });
    return ids;
  }

  @Test
  void onlyTheFirstServers_haveTheRulesUntilTheTimeIsOver() {
    Rollout rollout = begin();
    pass(SECOND);
    assertThat(with("new")).isEqualTo(rollout.nodes()).hasSize(2);
    servers.values().forEach(server -> server.decide(1_000, 10));
    pass(TIME.minusSeconds(5));
    assertThat(with("new")).isEqualTo(rollout.nodes());
    pass(Duration.ofSeconds(10));
    assertThat(with("new")).hasSize(4);
    assertThat(Rollouts.last(store).orElseThrow().state()).isEqualTo(State.DONE);
  }

  @Test
  void refusalsThatRise_bringTheOldRulesBackWithinSixSeconds() {
    Rollout rollout = begin();
    pass(SECOND);
    Objects.requireNonNull(servers.get(rollout.nodes().get(0))).decide(1_000, 500);
    pass(Duration.ofSeconds(6));
    assertThat(with("old")).hasSize(4);
    assertThat(store.head().revision()).isEqualTo(3);
    assertThat(store.nodes()).extracting(Node::revision).containsOnly(3L);
  }

  @Test
  void serverThatStartsMeanwhile_hasTheRulesBefore() {
    Rollout rollout = begin();
    pass(SECOND);
    servers.put("n5", new Server("n5"));
    assertThat(with("new")).isEqualTo(rollout.nodes());
    pass(TIME.plusSeconds(5));
    assertThat(with("new")).hasSize(5);
  }

  @Test
  void firstServerThatRestarts_hasTheNewRulesAgain() {
    String first = begin().nodes().get(0);
    pass(SECOND);
    Objects.requireNonNull(servers.get(first)).follower.close();
    servers.put(first, new Server(first));
    assertThat(with("new")).contains(first);
  }

  @Test
  void death_ofWhoeverJudged_isNoHindrance() {
    begin();
    pass(SECOND);
    Objects.requireNonNull(servers.remove("n1")).follower.close();
    pass(TIME.plusSeconds(15));
    assertThat(Rollouts.last(store).orElseThrow().state()).isEqualTo(State.DONE);
    assertThat(with("new")).hasSize(3);
  }

  @Test
  void entryThatCannotBeRead_keepsNobodyFromFollowing() {
    store.write(EntryWrite.put(Rollout.KIND, Rollout.NAME, "{\"state\":\"running\"}", 0), CAUSE);
    store.commit(1, tree("new"), List.of(text("new")), CAUSE);
    pass(SECOND);
    assertThat(with("new")).hasSize(4);
    Rollout next =
        Rollouts.begin(store, 2, tree("old"), List.of(), new Rollouts.Plan(50, TIME, 100), CAUSE);
    assertThat(next.nodes()).hasSize(2);
  }
}
