package dev.weir.bench.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.weir.bench.Answers;
import dev.weir.bench.Callers;
import dev.weir.bench.LimitProof;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A test that limiters measured through Redis do limit, and that only decisions count. */
class ThroughRedisTest {
  private static RedisServer redis;
  private static RedisClients clients;

  private final Callers callers = new Callers();

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    clients = new RedisClients(redis.uri());
  }

  @AfterAll
  static void end() {
    clients.close();
    redis.close();
  }

  @AfterEach
  void close() {
    callers.close();
  }

  @ParameterizedTest
  @EnumSource
  void everyContender_holdsASmallQuota(RedisContender contender) throws Exception {
    LimitProof.prove(contender.limiter(clients, LimitProof.policy("proof-" + contender)), callers);
  }

  @Test
  void prove_limiterThatAdmitsOrRefusesTooMuch_says_so() {
    AtomicInteger asked = new AtomicInteger();
    assertRejected(key -> true, "admitted: 100 of 100 (expected: 10)");
    assertRejected(key -> false, "admitted: 0 of 100 (expected: 10)");
    assertRejected(key -> asked.incrementAndGet() <= 10, "admitted: 0 of 100 (expected: 10)");
  }

  private void assertRejected(Predicate<String> limiter, String message) {
    assertThatIllegalStateException()
        .isThrownBy(() -> LimitProof.prove(limiter(limiter), callers))
        .withMessage(message);
  }

  @Test
  void ask_failingLimiter_countsNoDecisionAndGivesUp() throws Exception {
    Answers answers =
        callers.request(
            limiter(
                key -> {
                  throw new IllegalStateException("away");
                }),
            List.of("key"),
            60);
    assertThat(answers.requested()).isZero();
    assertThat(answers.perSecond()).isZero();
    assertThat(answers.failed()).isPositive();
    assertThat(answers.failure()).hasMessage("away");
  }

  @Test
  void answers_measureWhatIsTimedAndCountTheRest() {
    Answers answers = new Answers(2);
    answers.decided(true, 5_000_000, false);
    answers.decided(true, 1_000_000, true);
    answers.decided(true, 1_000_000, true);
    answers.decided(false, 1_000_000, true);
    answers.decided(false, 90_000_000, true);
    answers.failed(new IOException("lost"));
    Answers all = new Answers(2);
    all.add(answers);
    all.add(new Answers(2));
    assertThat(all.requested()).isEqualTo(5);
    assertThat(all.perSecond()).isEqualTo(2);
    assertThat(all.refused()).isEqualTo(0.5);
    assertThat(all.micros(50)).isBetween(1_000.0, 1_010.0);
    assertThat(all.micros(99)).isBetween(90_000.0, 90_100.0);
    assertThat(all.failed()).isEqualTo(1);
    assertThat(all.failure()).hasMessage("lost");
  }

  @Test
  void figures_areReadFromWhatRedisSays() {
    String info =
        """
        # Commandstats\r
        cmdstat_evalsha:calls=3,usec=100,usec_per_call=33.3,rejected_calls=0,failed_calls=0\r
        cmdstat_fcall_ro:calls=1,usec=100,usec_per_call=33.3,rejected_calls=0,failed_calls=0\r
        cmdstat_script|load:calls=1,usec=90,usec_per_call=90.0,rejected_calls=0,failed_calls=0\r
        cmdstat_get:calls=20,usec=10,usec_per_call=0.5,rejected_calls=0,failed_calls=0\r
        cmdstat_info:calls=7,usec=10,usec_per_call=0.5,rejected_calls=0,failed_calls=0\r
        """;
    RedisFigures.Commands commands = RedisFigures.Commands.of(info);
    assertThat(commands).isEqualTo(new RedisFigures.Commands(4, 25));
    assertThat(commands.since(new RedisFigures.Commands(1, 5)))
        .isEqualTo(new RedisFigures.Commands(3, 20));
    assertThat(RedisFigures.bufferBytes("id=3 tot-mem=22298 x=1\nid=4 x=1 tot-mem=2\n"))
        .isEqualTo(22_300);
  }

  private static KeyedLimiter limiter(Predicate<String> verdict) {
    return new KeyedLimiter() {
      @Override
      public boolean fill(String key) {
        return tryAcquire(key);
      }

      @Override
      public boolean tryAcquire(String key) {
        return verdict.test(key);
      }
    };
  }
}
