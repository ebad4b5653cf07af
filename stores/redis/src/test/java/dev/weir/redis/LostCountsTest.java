package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.AfterCrash;
import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.SharedBinding;
import dev.weir.wire.testkit.RedisCluster;
import dev.weir.wire.testkit.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Decisions after Redis has forgotten counts: by its own clock, and by the callers' at instants.
 */
class LostCountsTest extends FaultTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long WINDOW_NANOS = 10 * SECOND;

  /** An instant at which windows begin, in the year 2030: probes are made by Redis's own clock. */
  private static final long START = 190_000_000 * WINDOW_NANOS;

  private RedisStore timed(RedisServer server, AfterCrash afterCrash) {
    RedisStore store =
        closing(
            RedisStore.builder(server.uri())
                .timeout(LONG)
                .callersClock()
                .afterCrash(afterCrash)
                .log(log::add)
                .build());
    Redis.await(store::available);
    return store;
  }

  private static Policy.Builder timedPolicy(Algorithm algorithm) {
    return Policy.builder(new Quota(PERMITS, WINDOW_NANOS)).algorithm(algorithm);
  }

  private static Binding bind(RedisStore store, Policy policy) {
    return store.bind("timed", policy, START);
  }

  private static Charges decide(
      RedisStore store, Binding binding, long key, long permits, long at) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(new Charges().add(binding, key, permits), at, done::complete);
    return done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private List<String> losses() {
    return log.stream().filter(line -> line.contains("lost its counts")).toList();
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void flushed_refusesEveryKeyAsIfItsQuotaWereUsed_andOpensWithTheAlgorithm(Algorithm algorithm) {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = timed(server, AfterCrash.DENY);
    Policy policy = timedPolicy(algorithm).build();
    Binding binding = bind(store, policy);
    assertThat(decide(store, binding, 1, PERMITS, START).allowed()).isTrue();
    server.command("FLUSHALL");

    long lost = START + SECOND;
    Charges refused = decide(store, binding, 1, PERMITS, lost);
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.reason(0)).isEqualTo(Reason.OVER_LIMIT);
    assertThat(decide(store, binding, 2, 1, lost).allowed()).isFalse();

    // The same key in a store that has kept everything, used up at the instant of the loss.
    RedisServer kept = closing(RedisServer.start());
    RedisStore model = timed(kept, AfterCrash.DENY);
    Binding models = bind(model, policy);
    assertThat(decide(model, models, 1, PERMITS, lost).allowed()).isTrue();
    for (long at = lost + 1_000; at < lost + 3 * WINDOW_NANOS; at += WINDOW_NANOS / 16) {
      for (long permits : new long[] {PERMITS, PERMITS / 8, 1}) {
        Charges expected = decide(model, models, 1, permits, at);
        Charges actual = decide(store, binding, 1, permits, at);
        assertThat(actual.allowed())
            .as("%d at %d", permits, at - lost)
            .isEqualTo(expected.allowed());
        assertThat(actual.remaining(0)).isEqualTo(expected.remaining(0));
        assertThat(actual.retryAfterNanos(0)).isEqualTo(expected.retryAfterNanos(0));
      }
    }
    assertThat(losses()).hasSize(1);
    assertThat(store.metrics().losses()).containsEntry("counts", 1L);
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void keyWithSeveralSections_isMadeUpForInEach(Algorithm algorithm) {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = timed(server, AfterCrash.DENY);
    Binding first = bind(store, timedPolicy(algorithm).build());
    decide(store, first, 1, 1, START);
    server.command("FLUSHALL");
    // Another shape of the same limit, then the first again.
    Policy longer =
        Policy.builder(new Quota(PERMITS, 2 * WINDOW_NANOS)).algorithm(algorithm).build();
    assertThat(decide(store, first, 1, 1, START + 1_000).allowed()).isFalse();
    Binding second = bind(store, longer);
    assertThat(decide(store, second, 1, 1, START + 2_000).allowed()).isFalse();
    // Each is charged in both: neither admits more than what a quota refills in the time.
    long end = START + WINDOW_NANOS / 2;
    long admitted = 0;
    for (long at = START + 3_000; at < end; at += WINDOW_NANOS / 20) {
      for (Binding each : List.of(second, first)) {
        admitted += decide(store, each, 1, 1, at).allowed() ? 1 : 0;
      }
    }
    assertThat(admitted).isLessThanOrEqualTo(PERMITS / 2);
  }

  @Test
  void processThatIsNewAfterTheLoss_isOverruledByOneThatKnewTheCounts() {
    RedisServer server = closing(RedisServer.start());
    RedisStore old = timed(server, AfterCrash.DENY);
    Policy policy = timedPolicy(Algorithm.SLIDING_WINDOW_LOG).build();
    Binding olds = bind(old, policy);
    assertThat(decide(old, olds, 1, PERMITS, START).allowed()).isTrue();
    server.command("FLUSHALL");

    RedisStore fresh = timed(server, AfterCrash.DENY);
    Binding news = bind(fresh, policy);
    assertThat(decide(fresh, news, 1, 1, START + SECOND).allowed()).isTrue();
    long noticed = START + 2 * SECOND;
    assertThat(decide(old, olds, 1, 1, noticed).allowed()).isFalse();
    assertThat(decide(fresh, news, 1, 1, noticed + SECOND).allowed()).isFalse();
    assertThat(decide(fresh, news, 2, 1, noticed + WINDOW_NANOS - 1_000).allowed()).isFalse();
    assertThat(decide(fresh, news, 2, 1, noticed + WINDOW_NANOS).allowed()).isTrue();
    // The key that the new process had charged is made up for as well.
    assertThat(decide(old, olds, 1, PERMITS, noticed + WINDOW_NANOS).allowed()).isTrue();
    assertThat(losses()).as("one of each process").hasSize(2);
  }

  @Test
  void processesThatNoticeAtDifferentMoments_agreeOnTheInstantOfTheLoss() {
    RedisServer server = closing(RedisServer.start());
    Policy policy = timedPolicy(Algorithm.SLIDING_WINDOW_LOG).build();
    List<RedisStore> stores = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      stores.add(timed(server, AfterCrash.DENY));
      decide(stores.get(i), bind(stores.get(i), policy), i, 1, START);
    }
    server.command("FLUSHALL");
    long lost = START + SECOND;
    for (int i = 0; i < 3; i++) {
      Charges late = decide(stores.get(i), bind(stores.get(i), policy), 9, 1, lost + i * SECOND);
      assertThat(late.retryAfterNanos(0)).isEqualTo(WINDOW_NANOS - i * SECOND);
    }
    assertThat(
            decide(stores.get(2), bind(stores.get(2), policy), 9, 1, lost + WINDOW_NANOS).allowed())
        .isTrue();
  }

  @Test
  void amnesty_countsFromZero_andLeavesTheLossToOthers() {
    RedisServer server = closing(RedisServer.start());
    RedisStore lenient = timed(server, AfterCrash.AMNESTY);
    Policy policy = timedPolicy(Algorithm.SLIDING_WINDOW_LOG).build();
    Binding binding = bind(lenient, policy);
    assertThat(decide(lenient, binding, 1, PERMITS, START).allowed()).isTrue();
    server.command("FLUSHALL");
    assertThat(decide(lenient, binding, 1, 1, START + SECOND).allowed()).isTrue();
    assertThat(losses()).hasSize(1);
    assertThat(losses().get(0)).contains("after-crash amnesty");

    RedisStore strict = timed(server, AfterCrash.DENY);
    assertThat(decide(strict, bind(strict, policy), 2, 1, START + SECOND).allowed()).isFalse();
  }

  @Test
  void olderCopy_isNoticed_andALittleLateOneIsNot() {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = timed(server, AfterCrash.DENY);
    Policy policy = timedPolicy(Algorithm.FIXED_WINDOW).build();
    Binding binding = bind(store, policy);
    decide(store, binding, 1, 1, START);
    server.command("COPY", "weir:mark", "copy");
    decide(store, binding, 1, 1, START + 2 * SECOND);
    server.command("COPY", "copy", "weir:mark", "REPLACE");
    assertThat(decide(store, binding, 1, 1, START + 2 * SECOND).allowed()).isTrue();
    server.command("COPY", "weir:mark", "copy", "REPLACE");
    decide(store, binding, 1, 1, START + 5 * SECOND);
    server.command("COPY", "copy", "weir:mark", "REPLACE");
    assertThat(decide(store, binding, 1, 1, START + 5 * SECOND + 1_000).allowed()).isFalse();
    assertThat(losses()).hasSize(1);
  }

  @Test
  void foreignValueInPlaceOfTheMark_staysAndDisturbsNothing() {
    for (String[] foreign :
        new String[][] {{"RPUSH", "weir:mark", "x"}, {"SET", "weir:mark", "text"}}) {
      RedisServer server = closing(RedisServer.start());
      server.command(foreign);
      RedisStore store = timed(server, AfterCrash.DENY);
      Binding binding = bind(store, timedPolicy(Algorithm.FIXED_WINDOW).build());
      assertThat(decide(store, binding, 1, PERMITS, START).allowed()).isTrue();
      assertThat(decide(store, binding, 1, 1, START).allowed()).isFalse();
      assertThat(server.command("TYPE", "weir:mark"))
          .isEqualTo(foreign[0].equals("SET") ? "string" : "list");
    }
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void killedAndBackEmpty_admitsNothingMore_forTheWindow(Consistency consistency) {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), TIMEOUT);
    Redis.await(store::available);
    RateLimiter limiter =
        limiter(policy(10).sharing(Sharing.STRICT.consistency(consistency)), store);
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.OVER_LIMIT);
    server.kill();
    server.restartEmpty();
    Redis.await(store::available);
    for (int i = 0; i < 20; i++) {
      assertThat(limiter.tryAcquire("k" + i % 2).allowed()).isFalse();
    }
    Redis.await(() -> !losses().isEmpty());
    Redis.await(() -> Long.valueOf(1).equals(store.metrics().losses().get("restart")));
  }

  @Test
  void clustersNodeBackEmpty_refusesItsKeysAndNoOthers() {
    try (RedisCluster own = RedisCluster.start(3, "cluster-require-full-coverage no");
        RedisStore shared = RedisStore.builder(own.uri()).timeout(LONG).log(log::add).build()) {
      RateLimiter limiter = limiter(policy(5), shared);
      Binding binding = shared.bind("rule", limiter.policy(), 0);
      List<String> lost = new ArrayList<>();
      List<String> kept = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        String key = "key " + i;
        boolean first = own.nodeOf(name(shared, binding, key)) == own.nodes().get(0);
        (first ? lost : kept).add(key);
        Redis.await(() -> limiter.tryAcquire(key).reason() == Reason.WITHIN_LIMIT);
      }
      assertThat(lost).isNotEmpty();
      own.nodes().get(0).command("FLUSHALL");
      for (String key : lost) {
        assertThat(limiter.tryAcquire(key).reason()).isEqualTo(Reason.OVER_LIMIT);
      }
      for (String key : kept) {
        assertThat(limiter.tryAcquire(key).reason()).isEqualTo(Reason.WITHIN_LIMIT);
      }
      assertThat(losses()).as("one line for all slots").hasSize(1);
    }
  }

  @Test
  void slotThatMoves_isDecidedOn() {
    try (RedisCluster own = RedisCluster.start(3);
        RedisStore shared = RedisStore.builder(own.uri()).timeout(LONG).build()) {
      RateLimiter limiter = limiter(policy(5), shared);
      Binding binding = shared.bind("rule", limiter.policy(), 0);
      Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
      String name = name(shared, binding, "k");
      RedisServer from = own.nodeOf(name);
      RedisServer to = own.nodes().stream().filter(node -> node != from).findFirst().orElseThrow();
      String slot = from.command("CLUSTER", "KEYSLOT", name);
      to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", from.command("CLUSTER", "MYID"));
      from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", to.command("CLUSTER", "MYID"));
      // The key is at its new place, and the mark still at the old one.
      from.command("MIGRATE", "127.0.0.1", String.valueOf(to.port()), name, "0", "5000");
      for (int i = 0; i < 4; i++) {
        assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.WITHIN_LIMIT);
      }
      assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.OVER_LIMIT);
    }
  }

  private static String name(RedisStore store, Binding binding, String key) {
    byte[] name = RedisCode.of((SharedBinding) binding).key(store.fingerprint().of(key));
    return new String(name, StandardCharsets.UTF_8);
  }

  @Test
  void lossUnderLoadOfSeveralStores_exceedsNoLimit() {
    RedisServer server = closing(RedisServer.start());
    List<RedisStore> stores = stores(server.uri(), LONG);
    stores.forEach(store -> Redis.await(store::available));
    Crowd crowd = crowd(Consistency.STRICT, stores);
    crowd.awaitAdmitted(KEYS * PERMITS / 2);
    server.command("FLUSHALL");
    long before = crowd.answers(Reason.OVER_LIMIT);
    crowd.awaitAnswers(Reason.OVER_LIMIT, before + 1_000);
    assertThat(crowd.stop().excess()).isLessThanOrEqualTo(0);
    assertThat(crowd.admitted()).isLessThan(KEYS * PERMITS);
  }
}
