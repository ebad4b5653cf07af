package dev.weir.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.Ticker;
import dev.weir.config.follow.RuleFollower;
import dev.weir.config.rows.Tree;
import dev.weir.engine.Answer;
import dev.weir.engine.ReloadListener;
import dev.weir.engine.RulesException;
import dev.weir.engine.RunningEngine;
import dev.weir.rules.Problem;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine that takes its rules from a store, with real time and threads. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class FollowingEngineTest {
  private final ConfigStore store = ConfigStores.inMemory(Ticker.wall());
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

  private final class Listener implements ReloadListener {
    @Override
    public void applied(
        long revision, RuleSet rules, List<String> changes, List<Problem> warnings) {
      heard.add("applied");
    }

    @Override
    public void refused(long revision, List<Problem> problems) {
      heard.add("refused");
    }
  }

  private void commit(long permits) {
    Map<String, String> files =
        Map.of(
            "shop.yaml",
            """
            domain: shop
            descriptors:
              - key: user
                rate_limit: {unit: hour, requests_per_unit: %d}
            """
                .formatted(permits));
    store.commit(
        store.head().revision(), Tree.of(files), files.values(), Cause.of("test", "a test"));
  }

  private String next() throws InterruptedException {
    return String.valueOf(heard.poll(120, TimeUnit.SECONDS));
  }

  private static boolean allowed(RunningEngine engine) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    engine.decide(Request.of("shop", "user", "alice"), answer::complete);
    return answer.orTimeout(60, TimeUnit.SECONDS).join().allowed();
  }

  private RunningEngine engine() {
    RuleFollower follower =
        RuleFollower.builder(store, "n1")
            .interval(Duration.ofMillis(20))
            .patience(Duration.ofMillis(100))
            .build();
    return RunningEngine.builder().rules(follower).listener(new Listener()).start();
  }

  @Test
  void limitThatIsRaisedInTheStore_holdsInTheEngine() throws InterruptedException {
    commit(1);
    try (RunningEngine engine = engine()) {
      assertThat(next()).isEqualTo("applied");
      assertThat(allowed(engine)).isTrue();
      assertThat(allowed(engine)).isFalse();
      commit(2);
      assertThat(next()).isEqualTo("applied");
      assertThat(allowed(engine)).isTrue();
      assertThat(allowed(engine)).isFalse();
      commit(-1);
      assertThat(next()).isEqualTo("refused");
      assertThat(allowed(engine)).isFalse();
      commit(3);
      assertThat(next()).isEqualTo("applied");
      assertThat(allowed(engine)).isTrue();
      engine.reload();
      assertThat(allowed(engine)).isFalse();
    }
    assertThat(store.head().revision()).isEqualTo(4);
  }

  @Test
  void storeWithoutRules_refusesToStart() {
    assertThatThrownBy(this::engine)
        .isInstanceOf(RulesException.class)
        .hasMessageContaining("no rules yet");
  }
}
