package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.SharedMetrics;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.FaultProxy;
import dev.weir.wire.testkit.RedisServer;
import dev.weir.wire.testkit.RespClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Decisions while Redis does not answer, or answers wrongly. */
class RedisFaultTest extends FaultTest {
  // Answers.

  @Test
  void noRedis_isAnsweredAsThePolicySays_untilThereIsOne() {
    RedisServer server = closing(RedisServer.start());
    server.kill();
    RedisStore store = store(server.uri(), TIMEOUT);
    RateLimiter denying = limiter(policy(PERMITS).name("deny"), store);
    RateLimiter allowing =
        limiter(
            policy(PERMITS).sharing(Sharing.STRICT.onFailure(FailureMode.ALLOW)).name("allow"),
            store);
    RateLimiter local =
        limiter(
            policy(PERMITS)
                .sharing(Sharing.STRICT.onFailure(FailureMode.LOCAL).localShare(0.25))
                .name("local"),
            store);
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
    try (RespClient connection = new RespClient(port)) {
      connection.call("AUTH", from);
      connection.call("CONFIG", "SET", "requirepass", to);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Silence.

  @Test
  void stoppedAndContinued_givesBackWhatWasAnsweredTooLate() {
    RedisServer server = closing(RedisServer.start());
    boolean anew = true;
    long begun = System.nanoTime();
    while (anew) {
      assertThat(System.nanoTime() - begun)
          .as("in two minutes the connection is once not made anew")
          .isLessThan(Duration.ofMinutes(2).toNanos());
      log.clear();
      RedisStore store = store(server.uri(), TIMEOUT);
      Crowd crowd = crowd(Consistency.STRICT, List.of(store));
      crowd.awaitAdmitted(100);
      server.pause();
      crowd.await(Reason.UNCERTAIN);
      crowd.stop();
      assertInTime(crowd);
      server.resume();
      // If the machine stops for seconds, the connection is made again, and late answers are lost.
      anew = log.stream().anyMatch(line -> line.contains("made anew"));
      if (!anew) {
        Redis.await(() -> store.metrics().late() > 0);
        awaitNothingButAdmitted(crowd, store);
        assertThat(store.metrics().burned()).isZero();
      }
      server.command("FLUSHALL");
    }
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
    awaitNothingButAdmitted(crowd, store);
  }

  @Test
  void lateRepliesOfABucket_areGivenBackWhole() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    RedisStore store = store(through(proxy), TIMEOUT);
    RateLimiter limiter =
        limiter(
            Policy.builder(Quota.perHour(4)).algorithm(Algorithm.TOKEN_BUCKET).name("bucket"),
            store);
    Redis.await(() -> limiter.peek("k").reason() == Reason.WITHIN_LIMIT);
    proxy.stall();
    for (int i = 0; i < 2; i++) {
      assertThat(limiter.tryAcquire("k").reason()).isEqualTo(Reason.UNCERTAIN);
    }
    proxy.heal();
    Redis.await(() -> store.metrics().late() + store.metrics().burned() > 0);
    Redis.await(() -> limiter.peek("k").reason() == Reason.WITHIN_LIMIT);
    assertThat(limiter.peek("k").remaining()).isEqualTo(4 - store.metrics().burned());
    assertThat(store.metrics().burned()).isZero();
  }

  @Test
  void lostReplies_areChargedOnceAtMost_andCountedAsBurned() {
    FaultProxy proxy = closing(new FaultProxy(closing(RedisServer.start()).port()));
    RedisStore store = store(through(proxy), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    for (int i = 1; i <= 3; i++) {
      crowd.awaitAdmitted(100L * i);
      proxy.dropReplies();
      crowd.await(Reason.UNCERTAIN);
      proxy.cut();
      proxy.heal();
      crowd.await(Reason.WITHIN_LIMIT);
    }
    crowd.stop();
    assertInTime(crowd);
    Redis.await(() -> store.available() && store.metrics().queued() == 0);
    long charged = charged(crowd, store);
    SharedMetrics metrics = store.metrics();
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
      crowd.awaitAdmitted(100L * i);
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

  // A Redis that refuses.

  @Test
  void fullMemory_isUncertain_untilThereIsRoom() {
    RedisServer server = closing(RedisServer.start("maxmemory-policy noeviction"));
    RedisStore store = store(server.uri(), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    server.command("CONFIG", "SET", "maxmemory", "1");
    crowd.await(Reason.UNCERTAIN);
    Redis.await(() -> store.metrics().failures().getOrDefault("oom", 0L) > 0);
    server.command("CONFIG", "SET", "maxmemory", "0");
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
    assertThat(crowd.excess()).isZero();
    awaitNothingButAdmitted(crowd, store);
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
  void evictionThatIsSetWhileRedisRuns_isWarnedOfWithinAMinute() {
    RedisServer server = closing(RedisServer.start("maxmemory-policy noeviction"));
    FakeTicker ticker = new FakeTicker();
    Queue<String> warnings = new ConcurrentLinkedQueue<>();
    RedisStore store =
        closing(
            RedisStore.builder(server.uri())
                .ticker(ticker)
                .log(log::add)
                .warnings(warnings::add)
                .build());
    Redis.await(() -> store.available() || ticker.advance(Duration.ofMillis(1)).nanos() < 0);
    server.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    ticker.advance(Duration.ofMinutes(1));
    Redis.await(() -> !warnings.isEmpty());
    assertThat(warnings.remove()).contains("allkeys-lru");
    server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    ticker.advance(Duration.ofMinutes(1));
    Redis.await(() -> !warnings.isEmpty());
    assertThat(warnings.remove()).contains("as they have to be");
    assertThat(log).as("logged once").containsExactly("the store answers: decisions are shared");
  }

  @Test
  void scriptOfAnotherThatNeverEnds_isUncertain_untilItIsKilled() throws IOException {
    RedisServer server = closing(RedisServer.start("lua-time-limit 100"));
    RedisStore store = store(server.uri(), TIMEOUT);
    Crowd crowd = crowd(Consistency.STRICT, List.of(store));
    crowd.awaitAdmitted(100);
    RespClient busy = closing(server.connect());
    busy.command("EVAL", "while true do end", "0");
    crowd.await(Reason.UNCERTAIN);
    server.await("OK"::equals, "SCRIPT", "KILL");
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.stop();
    assertInTime(crowd);
    awaitNothingButAdmitted(crowd, store);
  }

  // Values of other programs.

  /** Values: text, none, broken MessagePack; nil, and arrays of it that are no section. */
  private static final List<String> RUBBISH =
      List.of(
          "72756262697368",
          "",
          "ff",
          "9301",
          "c0",
          "80",
          "9101",
          "950101010101",
          "9b0103010000000000000000",
          "9ba161a161a161a161a161a161a161a161a161a161a161");

  private static final String SET_BYTES =
      "local bytes = ARGV[1]:gsub('..', function(hex) return string.char(tonumber(hex, 16)) end) "
          + "return redis.call('SET', KEYS[1], bytes)";

  @Test
  void rubbishUnderAKey_makesThatKeyUncertain_andNoOther() {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), LONG);
    Redis.await(store::available);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Binding binding = store.bind("rule", limiter.policy(), 0);
    for (String rubbish : RUBBISH) {
      String key = "bad " + rubbish;
      byte[] name = RedisCode.of((SharedBinding) binding).key(store.fingerprint().of(key));
      server.command("EVAL", SET_BYTES, "1", new String(name, StandardCharsets.UTF_8), rubbish);
      List<CompletableFuture<Decision>> good = new ArrayList<>();
      List<CompletableFuture<Decision>> bad = new ArrayList<>();
      for (int j = 0; j < 20; j++) {
        good.add(limiter.tryAcquireAsync("good " + rubbish + j).toCompletableFuture());
        bad.add(limiter.tryAcquireAsync(key).toCompletableFuture());
      }
      assertThat(bad)
          .as(rubbish)
          .allMatch(decision -> decision.join().reason() == Reason.UNCERTAIN);
      assertThat(good)
          .as(rubbish)
          .allMatch(decision -> decision.join().reason() == Reason.WITHIN_LIMIT);
    }
  }

  // Closing.

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
        assertThat(answer.orTimeout(30, TimeUnit.SECONDS).join().reason())
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
