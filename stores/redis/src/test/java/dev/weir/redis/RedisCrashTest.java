package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.AfterCrash;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Admissions after Redis has lost data, or another server has taken its place. */
@Tag("container")
class RedisCrashTest extends FaultTest {
  private List<RedisStore> lenient(String uri, Duration timeout) {
    List<RedisStore> stores = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      stores.add(
          closing(
              RedisStore.builder(uri)
                  .timeout(timeout)
                  .afterCrash(AfterCrash.AMNESTY)
                  .log(log::add)
                  .build()));
    }
    return stores;
  }

  @ParameterizedTest
  @EnumSource(Consistency.class)
  void killedAndBackEmpty_withAmnesty_admitsAtMostOneMoreQuota(Consistency consistency) {
    RedisServer server = closing(RedisServer.start());
    Crowd crowd = crowd(consistency, lenient(server.uri(), TIMEOUT));
    crowd.awaitAdmitted(KEYS * PERMITS / 2);
    server.kill();
    crowd.await(Reason.UNCERTAIN);
    server.restartEmpty();
    crowd.await(Reason.WITHIN_LIMIT);
    crowd.awaitAdmitted(KEYS * PERMITS * 5 / 4);
    assertThat(crowd.stop().excess()).isBetween(1L, PERMITS + slack(consistency));
    assertInTime(crowd);
  }

  @Tag("once")
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
  void flushAll_withAmnesty_admitsAtMostOneMoreQuota(Consistency consistency) {
    RedisServer server = closing(RedisServer.start());
    List<RedisStore> stores = lenient(server.uri(), LONG);
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
    // Permits that the replica had not received yet are admitted again.
    assertThat(crowd.stop().excess()).isLessThanOrEqualTo(PERMITS + slack(consistency));
    assertInTime(crowd);
  }

  @Test
  void decisionsThatTooFewReplicasHave_areUncertain() {
    // An idle Redis ends a WAIT ten times a second only, so a quarter of the timeout has to be
    // longer.
    Duration timeout = Duration.ofSeconds(1);
    RedisServer master = closing(RedisServer.start());
    RedisServer replica = closing(master.startReplica());
    RedisStore store =
        closing(
            RedisStore.builder(master.uri()).replicas(1).timeout(timeout).log(log::add).build());
    RateLimiter limiter = limiter(policy(PERMITS), store);
    // Each is of another key: on a slow machine some end by the timeout, and all of them are
    // charged.
    AtomicInteger keys = new AtomicInteger();
    Supplier<Decision> next = () -> limiter.tryAcquire("k" + keys.getAndIncrement());
    Redis.await(() -> next.get().reason() == Reason.WITHIN_LIMIT);
    replica.pause();
    Redis.await(() -> next.get().cause().equals("replicas"));
    replica.resume();
    Redis.await(() -> next.get().reason() == Reason.WITHIN_LIMIT);
  }
}
