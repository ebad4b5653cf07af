package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureAnswer;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of decisions when Redis, or the way to it, fails. */
class RedisFaultTest {
  /** Short, so that tests are; a busy machine may exceed it at any time. */
  private static final Duration TIMEOUT = Duration.ofMillis(200);

  /** For tests that must see no failure. */
  private static final Duration LONG = Duration.ofSeconds(20);

  /** How much later than its timeout a decision may come on a busy machine. */
  private static final Duration MARGIN = Duration.ofSeconds(2);

  /** Longer than any test. */
  private static final Duration WINDOW = Duration.ofMinutes(2);

  private static final long PERMITS = 100;
  private static final int KEYS = 50;

  private final List<AutoCloseable> open = new ArrayList<>();
  private final Queue<String> log = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <T extends AutoCloseable> T closing(T resource) {
    open.add(resource);
    return resource;
  }

  private RedisStore store(String uri, Duration timeout) {
    return closing(RedisStore.builder(uri).timeout(timeout).log(log::add).build());
  }

  private List<RedisStore> stores(String uri, Duration timeout) {
    return List.of(store(uri, timeout), store(uri, timeout));
  }

  private static Policy.Builder policy(long permits) {
    return Policy.builder(Quota.of(permits, WINDOW)).name("rule");
  }

  private static RateLimiter limiter(Policy.Builder policy, RedisStore store) {
    return RateLimiter.builder(policy.build()).store(store).build();
  }

  private Crowd crowd(Consistency consistency, List<RedisStore> stores) {
    Policy policy = policy(PERMITS).consistency(consistency).build();
    return closing(Crowd.start(policy, KEYS, stores));
  }

  private static String through(FaultProxy proxy) {
    return "redis://127.0.0.1:" + proxy.port();
  }

  /**
   * What the consistency adds by itself, with two stores: what each of them has not told. Without
   * faults it is what the other has not told.
   */
  private static long slack(Consistency consistency) {
    long untold = LocalCounts.mostUntold(policy(PERMITS).consistency(consistency).build());
    return consistency == Consistency.APPROXIMATE ? 2 * untold : 0;
  }

  private static void assertInTime(Crowd crowd) {
    assertThat(crowd.slowestNanos()).isLessThan(TIMEOUT.plus(MARGIN).toNanos());
  }

  private static void awaitReason(Reason reason, RateLimiter limiter, String key) {
    Redis.await(() -> limiter.tryAcquire(key, 0).reason() == reason);
  }

  // What is answered.

  @Test
  void noRedis_isAnsweredAsThePolicySays_untilThereIsOne() {
    RedisServer server = closing(RedisServer.start());
    server.kill();
    RedisStore store = store(server.uri(), TIMEOUT);
    RateLimiter denying = limiter(policy(PERMITS).name("deny"), store);
    RateLimiter allowing =
        limiter(policy(PERMITS).onFailure(FailureAnswer.ALLOW).name("allow"), store);
    RateLimiter local =
        limiter(
            policy(PERMITS).onFailure(FailureAnswer.LOCAL).localShare(0.25).name("local"), store);
    int admitted = 0;
    for (int i = 0; i < PERMITS; i++) {
      assertThat(denying.tryAcquire("k"))
          .matches(d -> !d.allowed() && d.reason() == Reason.UNCERTAIN && d.retryAfterNanos() > 0);
      assertThat(allowing.tryAcquire("k"))
          .matches(d -> d.allowed() && d.reason() == Reason.UNCERTAIN);
      Decision decision = local.tryAcquire("k");
      assertThat(decision.reason()).isIn(Reason.WITHIN_LIMIT, Reason.OVER_LIMIT);
      admitted += decision.allowed() ? 1 : 0;
    }
    assertThat(admitted).isEqualTo(25);
    assertThat(store.available()).isFalse();
    assertThat(store.metrics().failures().get("open")).isGreaterThanOrEqualTo(3 * PERMITS);

    server.restart();
    Redis.await(store::available);
    Redis.await(() -> denying.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
    Redis.await(() -> local.tryAcquire("k").remaining() > PERMITS / 2);
  }

  @Test
  void wrongPassword_isUncertainAndLogged_untilItIsRight() {
    RedisServer server = closing(RedisServer.start());
    server.command("CONFIG", "SET", "requirepass", "right");
    RedisStore store =
        closing(RedisStore.builder(server.uri()).password("other").log(log::add).build());
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Redis.await(() -> log.stream().anyMatch(line -> line.contains("WRONGPASS")));
    assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(log).noneMatch(line -> line.contains("other"));
    setPassword(server.port(), "right", "other");
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
  }

  private static void setPassword(int port, String from, String to) {
    try (RedisConnection connection = new RedisConnection(port)) {
      connection.ask("AUTH", from);
      connection.ask("CONFIG", "SET", "requirepass", to);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  // Crashes.

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void killedAndBackEmpty_admitsAtMostOneMoreQuota(Consistency consistency) {
    RedisServer server = closing(RedisServer.start());
    Crowd crowd = crowd(consistency, stores(server.uri(), TIMEOUT));
    crowd.awaitAdmitted(KEYS * PERMITS / 2);
    server.kill();
    crowd.await(Reason.UNCERTAIN);
    server.restartEmpty();
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.awaitAdmitted(KEYS * PERMITS * 5 / 4);
    assertThat(crowd.stop().excess()).isBetween(1L, PERMITS + slack(consistency));
    assertInTime(crowd);
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void killedAndBackWithEveryDecision_admitsNothingExtra(Consistency consistency) {
    RedisServer server = closing(RedisServer.start("appendonly yes", "appendfsync always"));
    Crowd crowd = crowd(consistency, stores(server.uri(), TIMEOUT));
    for (int part = 1; part < 4; part++) {
      crowd.awaitAdmitted(KEYS * PERMITS * part / 5);
      server.kill();
      crowd.await(Reason.UNCERTAIN);
      server.restart();
      crowd.await(Reason.WITHIN_LIMIT);
    }
    crowd.awaitAnswers(Reason.OVER_LIMIT, 2_000);
    assertThat(crowd.stop().excess()).isLessThanOrEqualTo(slack(consistency));
    assertInTime(crowd);
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void flushAll_admitsAtMostOneMoreQuota(Consistency consistency) {
    RedisServer server = closing(RedisServer.start());
    List<RedisStore> stores = stores(server.uri(), LONG);
    stores.forEach(store -> Redis.await(store::available));
    Crowd crowd = crowd(consistency, stores);
    crowd.awaitAdmitted(KEYS * PERMITS / 2);
    server.command("FLUSHALL");
    crowd.awaitAdmitted(KEYS * PERMITS * 5 / 4);
    assertThat(crowd.stop().excess()).isBetween(1L, PERMITS + slack(consistency));
    assertThat(crowd.answers(Reason.UNCERTAIN)).isZero();
  }

  @Test
  void scriptFlushUnderLoad_failsNothing() {
    RedisServer server = closing(RedisServer.start());
    List<RedisStore> stores = stores(server.uri(), LONG);
    stores.forEach(store -> Redis.await(store::available));
    Crowd crowd = crowd(Consistency.STRICT, stores);
    for (int i = 1; i <= 40; i++) {
      crowd.awaitAdmitted(i * 50L);
      server.command("SCRIPT", "FLUSH");
    }
    crowd.stop();
    assertThat(crowd.answers(Reason.UNCERTAIN)).isZero();
    assertThat(crowd.excess()).isZero();
  }

  // Silence.

  @Test
  void stoppedAndContinued_givesBackWhatWasAnsweredTooLate() {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    server.pause();
    crowd.await(Reason.UNCERTAIN);
    crowd.stop();
    assertInTime(crowd);
    server.resume();
    Redis.await(() -> store.metrics().late() > 0);
    Redis.await(store::available);
    assertChargedIs(crowd.admitted(), store);
    assertThat(store.metrics().burned()).isZero();
  }

  @Test
  void stalledNetwork_isUncertain_andGivesBackWhatComesLate() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    RedisStore store = store(through(proxy), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    proxy.stall();
    crowd.await(Reason.UNCERTAIN);
    proxy.heal();
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
    Redis.await(store::available);
    assertChargedIs(crowd.admitted(), store);
  }

  /** Waits until the keys' charges in Redis are as many as were admitted to clients. */
  private static void assertChargedIs(long admitted, RedisStore store) {
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Redis.await(() -> charged(limiter) == admitted);
  }

  /** Returns how many permits of a crowd's keys, and of its probes, count in Redis. */
  private static long charged(RateLimiter limiter) {
    long sum = 0;
    for (int i = 0; i < KEYS; i++) {
      sum += charged(limiter, "key " + i);
    }
    for (int i = 1; ; i++) {
      long charged = charged(limiter, "probe " + i);
      if (charged == 0 && i > 1_000) {
        return sum;
      }
      sum += charged;
    }
  }

  private static long charged(RateLimiter limiter, String key) {
    Decision seen = limiter.peek(key);
    return seen.reason() == Reason.UNCERTAIN ? Long.MIN_VALUE / 4_096 : PERMITS - seen.remaining();
  }

  @Test
  void lostReplies_areChargedOnceAtMost_andCountedAsBurned() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    RedisStore store = store(through(proxy), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    for (int i = 1; i <= 3; i++) {
      crowd.awaitAdmitted(100 * i);
      proxy.dropReplies();
      crowd.await(Reason.UNCERTAIN);
      proxy.cut();
      proxy.heal();
      crowd.await(Reason.WITHIN_LIMIT);
    }
    crowd.stop();
    assertInTime(crowd);
    Redis.await(() -> store.available() && store.metrics().queued() == 0);
    long charged = charged(limiter(policy(PERMITS), store));
    RedisMetrics metrics = store.metrics();
    assertThat(metrics.burned()).isPositive();
    assertThat(charged)
        .isBetween(crowd.admitted(), crowd.admitted() + metrics.late() + metrics.burned());
  }

  @Test
  void connectionThatDiesSilently_isReplaced() {
    RedisServer server = closing(RedisServer.start());
    FaultProxy proxy = closing(new FaultProxy(server.port()));
    Crowd crowd = crowd(Consistency.STRICT, List.of(store(through(proxy), TIMEOUT)));
    crowd.awaitAdmitted(100);
    proxy.forget();
    crowd.await(Reason.UNCERTAIN);
    crowd.await(Reason.WITHIN_LIMIT);
    assertThat(crowd.stop().excess()).isZero();
    assertInTime(crowd);
  }

  @Test
  void cutConnections_areMadeAnew() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    Crowd crowd = crowd(Consistency.STRICT, stores(through(proxy), TIMEOUT));
    for (int i = 1; i <= 5; i++) {
      crowd.awaitAdmitted(100 * i);
      proxy.cut();
      crowd.await(Reason.WITHIN_LIMIT);
    }
    assertThat(crowd.stop().excess()).isZero();
    assertInTime(crowd);
    assertThat(crowd.answers(Reason.UNCERTAIN)).isPositive();
  }

  @Test
  void refusedConnections_areTriedAgain() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    Crowd crowd = crowd(Consistency.STRICT, stores(through(proxy), TIMEOUT));
    crowd.awaitAdmitted(100);
    proxy.refuse();
    proxy.cut();
    crowd.await(Reason.UNCERTAIN);
    proxy.heal();
    crowd.await(Reason.WITHIN_LIMIT);
    assertThat(crowd.stop().excess()).isZero();
    assertInTime(crowd);
  }

  // Replicas.

  @Test
  void replica_isUncertain_untilItIsPromoted() {
    RedisServer master = closing(RedisServer.start());
    RedisServer replica = closing(master.startReplica());
    Crowd crowd = crowd(Consistency.STRICT, stores(replica.uri(), TIMEOUT));
    crowd.await(Reason.UNCERTAIN);
    assertThat(crowd.admitted()).isZero();
    replica.promote();
    crowd.await(Reason.WITHIN_LIMIT);
    replica.command("REPLICAOF", "127.0.0.1", String.valueOf(master.port()));
    crowd.await(Reason.UNCERTAIN);
    replica.promote();
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void sentinelPromotesAReplica_afterACrash(Consistency consistency) {
    failover(consistency, true);
  }

  @Test
  void sentinelPromotesAReplica_ofAMasterThatHangs() {
    failover(Consistency.STRICT, false);
  }

  private void failover(Consistency consistency, boolean crash) {
    RedisServer master = closing(RedisServer.start());
    closing(master.startReplica());
    RedisServer sentinel = closing(RedisServer.startSentinel("main", master));
    sentinel.await(info -> info.contains("slaves=1") && info.contains("status=ok"), "INFO");
    String uri = "redis-sentinel://127.0.0.1:" + sentinel.port() + "#main";
    Crowd crowd = crowd(consistency, stores(uri, TIMEOUT));
    crowd.awaitAdmitted(KEYS * PERMITS / 2);
    if (crash) {
      master.kill();
    } else {
      master.pause();
    }
    crowd.await(Reason.UNCERTAIN);
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.awaitAnswers(Reason.OVER_LIMIT, 2_000);
    // What the replica had not got yet is admitted again.
    assertThat(crowd.stop().excess()).isLessThanOrEqualTo(PERMITS + slack(consistency));
    assertInTime(crowd);
  }

  @Test
  void decisionsThatTooFewReplicasHave_areUncertain() {
    RedisServer master = closing(RedisServer.start());
    RedisServer replica = closing(master.startReplica());
    RedisStore store =
        closing(
            RedisStore.builder(master.uri()).replicas(1).timeout(TIMEOUT).log(log::add).build());
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
    replica.pause();
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.UNCERTAIN);
    replica.resume();
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
  }

  // Redis that does not want to.

  @Test
  void fullMemory_isUncertain_untilThereIsRoom() {
    RedisServer server = closing(RedisServer.start("maxmemory-policy noeviction"));
    RedisStore store = store(server.uri(), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    server.command("CONFIG", "SET", "maxmemory", "1");
    crowd.await(Reason.UNCERTAIN);
    Redis.await(() -> store.metrics().failures().get("oom") > 0);
    server.command("CONFIG", "SET", "maxmemory", "0");
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
    assertThat(crowd.excess()).isZero();
    assertChargedIs(crowd.admitted(), store);
  }

  @Test
  void evictionOfKeys_isWarnedOf() {
    RedisServer server = closing(RedisServer.start("maxmemory-policy allkeys-lru"));
    RedisStore unused = store(server.uri(), TIMEOUT);
    Redis.await(() -> log.stream().anyMatch(line -> line.contains("allkeys-lru")));
    RedisServer right = closing(RedisServer.start());
    RedisStore fine = store(right.uri(), TIMEOUT);
    Redis.await(fine::available);
    assertThat(log.stream().filter(line -> line.contains("maxmemory"))).hasSize(1);
    assertThat(unused.available()).isTrue();
  }

  @Test
  void scriptOfAnotherThatNeverEnds_isUncertain_untilItIsKilled() throws IOException {
    RedisServer server = closing(RedisServer.start("lua-time-limit 100"));
    RedisStore store = store(server.uri(), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    RedisConnection busy = closing(server.connect());
    busy.send("EVAL", "while true do end", "0");
    crowd.await(Reason.UNCERTAIN);
    server.await("OK"::equals, "SCRIPT", "KILL");
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
    assertChargedIs(crowd.admitted(), store);
  }

  // Values that are not ours.

  @Test
  void rubbishUnderAKey_makesThatKeyUncertain_andNoOther() {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), LONG);
    Redis.await(store::available);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    RedisLimit limit = (RedisLimit) store.limit("rule", limiter.policy(), 0);
    // The last are arrays of MessagePack: one number; a log's first numbers; text in their place.
    List<String> rubbish = List.of("rubbish", "\u0001", "{}", "\u0093\u0001\u0002", "[1]", "\n");
    List<String> hex =
        List.of(
            "9101",
            "950101010101",
            "9ba161a161a161a161a161a161a161a161a161a161a161",
            "9b0103010000000000000000",
            "c0",
            "80",
            "ff");
    for (int i = 0; i < rubbish.size() + hex.size(); i++) {
      String key = "bad " + i;
      String name =
          new String(
              limit.key(store.fingerprint().of(key)), java.nio.charset.StandardCharsets.UTF_8);
      if (i < rubbish.size()) {
        server.command("SET", name, rubbish.get(i));
      } else {
        String script =
            "return redis.call('SET', KEYS[1], (ARGV[1]:gsub('..', function(h) return string.char(tonumber(h, 16)) end)))";
        server.command("EVAL", script, "1", name, hex.get(i - rubbish.size()));
      }
      List<CompletableFuture<Decision>> good = new ArrayList<>();
      List<CompletableFuture<Decision>> bad = new ArrayList<>();
      for (int j = 0; j < 20; j++) {
        good.add(limiter.tryAcquireAsync("good " + i + " " + j).toCompletableFuture());
        bad.add(limiter.tryAcquireAsync(key).toCompletableFuture());
      }
      assertThat(bad).as(key).allMatch(decision -> decision.join().reason() == Reason.UNCERTAIN);
      assertThat(good)
          .as(key)
          .allMatch(decision -> decision.join().reason() == Reason.WITHIN_LIMIT);
    }
  }

  // The end.

  @Test
  void close_answersAllThatIsUnderWay() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    RedisStore store = RedisStore.builder(through(proxy)).timeout(TIMEOUT).build();
    try (store) {
      Redis.await(store::available);
      proxy.stall();
      RateLimiter limiter = limiter(policy(PERMITS), store);
      List<CompletableFuture<Decision>> answers = new ArrayList<>();
      for (int i = 0; i < 1_000; i++) {
        answers.add(limiter.tryAcquireAsync("key " + i).toCompletableFuture());
      }
      store.close();
      answers.add(limiter.tryAcquireAsync("afterwards").toCompletableFuture());
      for (CompletableFuture<Decision> answer : answers) {
        assertThat(answer.orTimeout(30, java.util.concurrent.TimeUnit.SECONDS).join().reason())
            .isEqualTo(Reason.UNCERTAIN);
      }
    }
  }

  @Test
  void closeUnderLoad_answersEverybody() {
    RedisServer server = closing(RedisServer.start());
    for (Consistency consistency : Consistency.values()) {
      RedisStore store = RedisStore.builder(server.uri()).timeout(TIMEOUT).build();
      try (store) {
        Crowd crowd = crowd(consistency, List.of(store));
        crowd.awaitAdmitted(100);
        store.close();
        crowd.await(Reason.UNCERTAIN);
        crowd.stop();
        assertInTime(crowd);
      }
    }
  }
}
