package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.testkit.FaultProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;

/** The base of tests of faults: stores that are closed afterwards, and a crowd of clients. */
abstract class FaultTest {
  /** Short, to keep tests short; a busy machine may exceed it at any time. */
  static final Duration TIMEOUT = Duration.ofMillis(200);

  /** The timeout of tests that must see no failure. */
  static final Duration LONG = Duration.ofSeconds(20);

  /** The longest delay of a decision after its timeout on a busy machine. */
  static final Duration MARGIN = Duration.ofSeconds(2);

  /** Longer than any test. */
  static final Duration WINDOW = Duration.ofMinutes(2);

  static final long PERMITS = 100;
  static final int KEYS = 50;

  private final List<AutoCloseable> open = new ArrayList<>();
  final Queue<String> log = new ConcurrentLinkedQueue<>();

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  <T extends AutoCloseable> T closing(T resource) {
    open.add(resource);
    return resource;
  }

  RedisStore store(String uri, Duration timeout) {
    return closing(RedisStore.builder(uri).timeout(timeout).log(log::add).build());
  }

  List<RedisStore> stores(String uri, Duration timeout) {
    return List.of(store(uri, timeout), store(uri, timeout));
  }

  static Policy.Builder policy(long permits) {
    return Policy.builder(Quota.of(permits, WINDOW)).name("rule");
  }

  static RateLimiter limiter(Policy.Builder policy, RedisStore store) {
    return RateLimiter.builder(policy.build()).store(store).build();
  }

  Crowd crowd(Consistency consistency, List<RedisStore> stores) {
    Policy policy = policy(PERMITS).sharing(Sharing.STRICT.consistency(consistency)).build();
    return closing(Crowd.start(policy, KEYS, stores));
  }

  static String through(FaultProxy proxy) {
    return "redis://127.0.0.1:" + proxy.port();
  }

  /**
   * Returns the excess of a consistency itself, with two stores: the permits that each of them has
   * not recorded. Without faults it is only those that the other has not recorded.
   */
  static long slack(Consistency consistency) {
    Policy shared = policy(PERMITS).sharing(Sharing.STRICT.consistency(consistency)).build();
    long unrecorded =
        Math.max(1, PERMITS * shared.sharing().syncIntervalNanos() / shared.quota().windowNanos());
    return consistency == Consistency.APPROXIMATE ? 2 * unrecorded : 0;
  }

  static void assertInTime(Crowd crowd) {
    assertThat(crowd.slowestNanos() - crowd.heldUpNanos())
        .isLessThan(TIMEOUT.plus(MARGIN).toNanos());
  }

  /** Waits until the permits that count in Redis are those that the crowd was admitted. */
  static void awaitNothingButAdmitted(Crowd crowd, RedisStore store) {
    Redis.await(store::available);
    Redis.await(() -> charged(crowd, store) == crowd.admitted());
  }

  /**
   * Returns the number of permits of the crowd's keys that count in Redis; less than 0 if unknown.
   */
  static long charged(Crowd crowd, RedisStore store) {
    RateLimiter limiter = limiter(policy(PERMITS), store);
    List<CompletableFuture<Decision>> looks = new ArrayList<>();
    for (String key : crowd.keys()) {
      looks.add(limiter.tryAcquireAsync(key, 0).toCompletableFuture());
    }
    long sum = 0;
    for (CompletableFuture<Decision> look : looks) {
      if (look.join().reason() != Reason.WITHIN_LIMIT) {
        return -1;
      }
      sum += PERMITS - look.join().remaining();
    }
    return sum;
  }
}
