package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Decision;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.wire.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** Decisions while Redis is reached, but accepts no writes for a reason that a person must mend. */
class WriteRefusalTest extends FaultTest {
  private void assertNamed_overOneConnection(RateLimiter limiter, RedisStore store, String kind) {
    Decision refused = limiter.tryAcquire("k");
    assertThat(refused.reason()).isEqualTo(Reason.UNCERTAIN);
    assertThat(refused.cause()).isEqualTo(kind);
    Redis.await(
        () -> {
          Decision next = limiter.tryAcquire("k");
          assertThat(next.cause()).isIn(kind, "open");
          return !store.available();
        });
    Redis.await(() -> log.stream().anyMatch(line -> line.contains("does not decide (" + kind)));
    assertThat(log).noneMatch(line -> line.contains("the store is gone"));
    assertThat(store.metrics().failures().get(kind)).isGreaterThanOrEqualTo(3);
    assertThat(store.metrics().failures().get("readonly")).isZero();
    assertThat(store.metrics().failures().get("disconnected")).isZero();
  }

  @Test
  void tooFewReplicas_areNamed_untilThereAreEnough() {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), TIMEOUT);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);

    server.command("CONFIG", "SET", "min-replicas-to-write", "1");
    assertNamed_overOneConnection(limiter, store, "noreplicas");

    server.command("CONFIG", "SET", "min-replicas-to-write", "0");
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
  }

  @Test
  void failedSave_isNamed_untilOneSucceeds() throws IOException {
    RedisServer server = closing(RedisServer.start());
    RedisStore store = store(server.uri(), TIMEOUT);
    RateLimiter limiter = limiter(policy(PERMITS), store);
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);

    Files.createDirectories(server.directory().resolve("blocked/in"));
    server.command("CONFIG", "SET", "dbfilename", "blocked"); // No file can replace a folder.
    server.command("CONFIG", "SET", "save", "3600 1000000");
    server.command("BGSAVE");
    server.await(info -> info.contains("rdb_last_bgsave_status:err"), "INFO", "persistence");
    assertNamed_overOneConnection(limiter, store, "misconf");

    server.command("CONFIG", "SET", "dbfilename", "dump.rdb");
    server.command("BGSAVE");
    Redis.await(() -> limiter.tryAcquire("k").reason() == Reason.WITHIN_LIMIT);
  }
}
