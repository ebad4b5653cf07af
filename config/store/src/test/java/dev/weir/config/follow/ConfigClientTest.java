package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.ConfigStores;
import dev.weir.config.Node;
import dev.weir.config.OwnLimit;
import dev.weir.config.RecordWrite;
import dev.weir.config.RecordsUnderTest;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.config.Threads;
import dev.weir.config.rows.Tree;
import dev.weir.engine.Answer;
import dev.weir.engine.RunningEngine;
import dev.weir.engine.SubjectSettings;
import dev.weir.rules.Request;
import dev.weir.testkit.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines whose rules and subjects come from one store. */
@Timeout(180)
class ConfigClientTest {
  private static final Cause CAUSE = Cause.of("test", "a test");
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final long START = 1_800_000_000_000_000_000L;
  private static final Subject ALICE = RecordsUnderTest.subject("alice");
  private static final SubjectSettings PATIENT = new SubjectSettings(10_000_000_000L, 10_000);

  private static void commit(ConfigStore store, long requests) {
    Map<String, String> files =
        Map.of(
            "shop.yaml",
            """
            domain: shop
            plans:
              gold: {r: {requests_per_unit: 5}}
            descriptors:
              - key: user
                rate_limit: {name: r, unit: day, requests_per_unit: %d, by: user}
            """
                .formatted(requests));
    store.commit(store.head().revision(), Tree.of(files), files.values(), CAUSE);
  }

  private static void put(ConfigStore store, SubjectRecord record) {
    store.write(List.of(RecordWrite.put(record, RecordWrite.ANY)), CAUSE);
  }

  private static Answer request(RunningEngine engine, String user) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    engine.decide(Request.of("shop", "user", user), answer::complete);
    return answer.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static long remaining(RunningEngine engine) {
    return request(engine, "alice").statuses().get(0).limitRemaining();
  }

  private static int admitted(RunningEngine engine, String user) {
    int admitted = 0;
    while (request(engine, user).allowed()) {
      admitted++;
    }
    return admitted;
  }

  /** Time stands still; the calling thread does all work. */
  @Test
  void recordAndRuleThatChange_areInForceWithinOnePoll() {
    FakeTicker ticker = new FakeTicker(START);
    ConfigStore store = ConfigStores.inMemory(ticker);
    commit(store, 2);
    ConfigClient.Builder builder = ConfigClient.builder(store, "n1").ticker(ticker).wall(ticker);
    try (ConfigClient client =
            new ConfigClient(builder, bound -> bound, Runnable::run, Runnable::run);
        RunningEngine engine =
            RunningEngine.builder()
                .ticker(ticker)
                .rules(client.rules())
                .subjects(client.subjects())
                .start()) {
      assertThat(admitted(engine, "alice")).isEqualTo(2);
      put(store, SubjectRecord.ofPlan(ALICE, "gold"));
      assertThat(admitted(engine, "alice")).isZero();
      ticker.advance(SECOND);
      assertThat(admitted(engine, "alice")).isEqualTo(3); // Five in all.
      put(store, SubjectRecord.ofLimits(ALICE, OwnLimit.of("r", 9)));
      ticker.advance(SECOND);
      assertThat(admitted(engine, "alice")).isEqualTo(4);
      store.write(List.of(RecordWrite.delete(ALICE, RecordWrite.ANY)), CAUSE);
      commit(store, 11);
      ticker.advance(SECOND);
      assertThat(admitted(engine, "alice")).isEqualTo(2);
      assertThat(client.ruleStatus().appliedRevision()).isEqualTo(2);
      Node node = store.nodes().get(0);
      assertThat(node.position()).isEqualTo(store.head().position());
    }
  }

  @Test
  void ownLimit_endsByItselfInTheEngine() {
    FakeTicker ticker = new FakeTicker(START);
    ConfigStore store = ConfigStores.inMemory(ticker);
    commit(store, 2);
    OwnLimit raised =
        new OwnLimit("r", 6, null, null, Instant.ofEpochSecond(START / SECOND.toNanos() + 10));
    put(store, SubjectRecord.ofLimits(ALICE, raised));
    ConfigClient.Builder builder = ConfigClient.builder(store, "n1").ticker(ticker).wall(ticker);
    try (ConfigClient client =
            new ConfigClient(builder, bound -> bound, Runnable::run, Runnable::run);
        RunningEngine engine =
            RunningEngine.builder()
                .ticker(ticker)
                .rules(client.rules())
                .subjects(client.subjects())
                .start()) {
      assertThat(remaining(engine)).isEqualTo(5);
      long changes = store.head().position();
      for (int i = 0; i < 9; i++) {
        ticker.advance(SECOND);
      }
      assertThat(remaining(engine)).isEqualTo(4);
      ticker.advance(SECOND);
      assertThat(request(engine, "alice").allowed()).isFalse(); // Two permits are used, of two.
      assertThat(store.head().position()).isEqualTo(changes);
    }
  }

  /** Uses real threads and time; the record alternates as fast as the store accepts it. */
  @Test
  void recordThatFlapsUnderLoad_admitsNoMoreThanTheLargestNumber() throws Exception {
    ConfigStore store = ConfigStores.inMemory(Ticker.wall());
    commit(store, 10);
    put(store, SubjectRecord.ofPlan(ALICE, "gold"));
    AtomicInteger admitted = new AtomicInteger();
    AtomicBoolean ended = new AtomicBoolean();
    try (ConfigClient client =
            ConfigClient.builder(store, "n1").interval(Duration.ofMillis(1)).open();
        RunningEngine engine =
            RunningEngine.builder()
                .rules(client.rules())
                .subjects(client.subjects(), PATIENT)
                .start()) {
      Threads.race(
          5,
          thread -> {
            if (thread == 0) {
              try {
                for (int i = 0; i < 3_000; i++) {
                  long number = new long[] {3, 400, 0, 60}[i % 4];
                  put(store, SubjectRecord.ofLimits(ALICE, OwnLimit.of("r", number)));
                  client.feed().hint();
                }
              } finally {
                ended.set(true);
              }
            }
            while (!ended.get()) {
              admitted.addAndGet(request(engine, "alice").allowed() ? 1 : 0);
            }
          });
      put(store, SubjectRecord.ofLimits(ALICE, OwnLimit.of("r", 400)));
      assertThat(client.feed().poll()).isTrue();
      admitted.addAndGet(admitted(engine, "alice"));
      assertThat(admitted).hasValue(400);
      assertThat(client.subjectStatus().misses()).isPositive();
    }
  }
}
