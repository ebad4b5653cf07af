package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Sharing;
import dev.weir.testkit.FaultProxy;
import dev.weir.wire.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Decisions of a process by the last answer of Redis, while it waits for the next. */
class RedisApproximateTest {
  @Test
  void processByItself_admitsNothingExtra_whileItAsks() {
    Policy policy =
        Policy.builder(Quota.of(10, Duration.ofSeconds(200)))
            .name("rule")
            .sharing(
                Sharing.STRICT
                    .consistency(Consistency.APPROXIMATE)
                    .syncInterval(Duration.ofSeconds(20)))
            .build();
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = new FaultProxy(server.port());
        RedisStore store =
            RedisStore.builder("redis://127.0.0.1:" + proxy.port())
                .timeout(Duration.ofSeconds(20))
                .build()) {
      Redis.await(store::available);
      RateLimiter limiter = RateLimiter.builder(policy).store(store).build();
      assertThat(limiter.tryAcquire("k", 8).remaining()).isEqualTo(2);
      proxy.stall();
      CompletionStage<Decision> asked = limiter.tryAcquireAsync("k", 2);
      CompletionStage<Decision> meanwhile = limiter.tryAcquireAsync("k", 1);
      proxy.heal();
      boolean both =
          asked.toCompletableFuture().join().allowed()
              && meanwhile.toCompletableFuture().join().allowed();
      assertThat(both).isFalse();
    }
  }
}
