package dev.weir.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Consistency;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.shared.SharedBinding;
import dev.weir.wire.testkit.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Keys of limits at which another client has put a value that is no string. */
class ForeignTypesTest extends FaultTest {
  private static final Map<String, String[]> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put("list", new String[] {"RPUSH", "", "a"});
    TYPES.put("hash", new String[] {"HSET", "", "a", "b"});
    TYPES.put("set", new String[] {"SADD", "", "a"});
    TYPES.put("zset", new String[] {"ZADD", "", "1", "a"});
    TYPES.put("stream", new String[] {"XADD", "", "*", "a", "b"});
  }

  private RedisServer server;
  private RedisStore store;

  @BeforeEach
  void start() {
    server = closing(RedisServer.start());
    store = store(server.uri(), LONG);
    Redis.await(store::available);
  }

  private String nameInRedis(Binding binding, String key) {
    byte[] name = RedisCode.of((SharedBinding) binding).key(store.fingerprint().of(key));
    return new String(name, StandardCharsets.UTF_8);
  }

  private void plant(Binding binding, String type) {
    String[] command = Objects.requireNonNull(TYPES.get(type)).clone();
    command[1] = nameInRedis(binding, type);
    server.command(command);
  }

  private void plantAll(Binding binding) {
    TYPES.keySet().forEach(type -> plant(binding, type));
  }

  /** Asserts that all values of the other client are unchanged. */
  private void assertUntouched(Binding binding) {
    for (String type : TYPES.keySet()) {
      String name = nameInRedis(binding, type);
      assertThat(server.command("TYPE", name)).isEqualTo(type);
      assertThat(server.command("TTL", name)).as(type).isEqualTo("-1");
    }
  }

  private Binding binding(RateLimiter limiter) {
    return store.bind(limiter.policy().name(), limiter.policy(), 0);
  }

  private Charges decided(Charges charges) {
    CompletableFuture<Charges> done = new CompletableFuture<>();
    store.decide(charges, 0, done::complete);
    return done.orTimeout(60, TimeUnit.SECONDS).join();
  }

  private Charges charges(Binding binding, String... keys) {
    Charges charges = new Charges();
    for (String key : keys) {
      charges.add(binding, store.fingerprint().of(key), 1);
    }
    return charges;
  }

  @Test
  void foreignType_isLoggedWithItsKey_onceAMinute() {
    RateLimiter limiter = limiter(policy(PERMITS).name("logged"), store);
    Binding binding = binding(limiter);
    plant(binding, "list");
    for (int i = 0; i < 3; i++) {
      Decision decision = limiter.tryAcquire("list");
      assertThat(decision.reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(decision.cause()).isEqualTo("state");
    }
    Charges two = decided(charges(binding, "good", "list"));
    assertThat(two.cause(0)).as("refused with the other").isEqualTo("state");
    assertThat(two.cause(1)).isEqualTo("state");
    assertThat(log.stream().filter(line -> line.contains("cannot count")))
        .containsExactly(
            "the store cannot count a key of logged, "
                + nameInRedis(binding, "list")
                + " (state): its requests are answered by on_failure until it can");
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void foreignType_isUncertain_staysWhatItIs_andDisturbsNoOtherKey(Algorithm algorithm) {
    for (Consistency consistency : Consistency.values()) {
      String name = algorithm + " " + consistency;
      RateLimiter limiter =
          limiter(
              policy(PERMITS)
                  .name(name)
                  .algorithm(algorithm)
                  .sharing(Sharing.STRICT.consistency(consistency)),
              store);
      Binding binding = binding(limiter);
      plantAll(binding);
      List<CompletableFuture<Decision>> good = new ArrayList<>();
      List<CompletableFuture<Decision>> bad = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        for (String type : TYPES.keySet()) {
          good.add(limiter.tryAcquireAsync("good " + type + i).toCompletableFuture());
          bad.add(limiter.tryAcquireAsync(type).toCompletableFuture());
        }
      }
      assertThat(bad).as(name).allMatch(each -> each.join().reason() == Reason.UNCERTAIN);
      assertThat(good).as(name).allMatch(each -> each.join().reason() == Reason.WITHIN_LIMIT);
      assertUntouched(binding);
    }
  }

  @ParameterizedTest
  @EnumSource(Algorithm.class)
  void allWaysToAsk_findItUncertain(Algorithm algorithm) {
    RateLimiter limiter = limiter(policy(PERMITS).algorithm(algorithm), store);
    Binding binding = binding(limiter);
    plantAll(binding);
    for (String type : TYPES.keySet()) {
      assertThat(limiter.peek(type).reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(limiter.tryAcquire(type, 0).reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(limiter.tryAcquire(type, PERMITS + 1).reason()).isEqualTo(Reason.UNCERTAIN);
      assertThat(limiter.reserve(type, 1, WINDOW).granted()).isFalse();
      assertThat(decided(charges(binding, "beside " + type, type).peek()).reason(1))
          .isEqualTo(Reason.UNCERTAIN);
    }
    Charges both = decided(charges(binding, "whole", "list"));
    assertThat(both.allowed()).isFalse();
    assertThat(limiter.tryAcquire("whole").remaining()).as("charged nothing").isEqualTo(99);

    Batch batch = new Batch(4);
    for (String key : List.of("hash", "one", "zset", "two")) {
      batch.add(binding, store.fingerprint().of(key), 1);
    }
    CompletableFuture<Batch> done = new CompletableFuture<>();
    store.decide(batch, 0, done::complete);
    done.orTimeout(60, TimeUnit.SECONDS).join();
    assertThat(batch.allowed(0)).isFalse();
    assertThat(batch.allowed(1)).isTrue();
    assertThat(batch.allowed(2)).isFalse();
    assertThat(batch.allowed(3)).isTrue();
    assertUntouched(binding);
  }

  @ParameterizedTest
  @EnumSource(value = Algorithm.class, mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
  void typeThatChangesUnderUs_isUncertain_alsoForWhatIsGivenBackOrTold(Algorithm algorithm) {
    for (Consistency consistency : Consistency.values()) {
      String name = algorithm + " " + consistency;
      RateLimiter limiter =
          limiter(
              policy(PERMITS)
                  .name(name)
                  .algorithm(algorithm)
                  .sharing(Sharing.STRICT.consistency(consistency)),
              store);
      Binding binding = binding(limiter);
      Decision charged = limiter.tryAcquire("set");
      assertThat(charged.reason()).isEqualTo(Reason.WITHIN_LIMIT);
      // Once the permits that this process may admit by itself are used up, it has to record them.
      for (int i = 0; i < 2; i++) {
        limiter.tryAcquire("set");
      }
      server.command("DEL", nameInRedis(binding, "set"));
      plant(binding, "set");

      limiter.refund("set", 1, charged);
      Redis.await(() -> limiter.tryAcquire("set").reason() == Reason.UNCERTAIN);
      assertThat(server.command("TYPE", nameInRedis(binding, "set"))).isEqualTo("set");
      assertThat(limiter.tryAcquire("other").reason()).isEqualTo(Reason.WITHIN_LIMIT);
    }
  }

  @Test
  void stateFailures_areCounted_andAnsweredAsThePolicySays() {
    RateLimiter denying = limiter(policy(PERMITS), store);
    plantAll(binding(denying));
    assertThat(store.metrics().failures().get("state")).isZero();
    List<CompletableFuture<Decision>> same = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      same.add(denying.tryAcquireAsync("list").toCompletableFuture());
    }
    same.forEach(CompletableFuture::join);
    denying.peek("hash");
    decided(charges(binding(denying), "set", "zset"));
    assertThat(store.metrics().failures().get("state")).isEqualTo(20 + 1 + 2);
    assertThat(store.metrics().burned()).isZero();
    long decided = store.metrics().decided();

    RateLimiter allowing =
        limiter(
            policy(PERMITS).sharing(Sharing.STRICT.onFailure(FailureMode.ALLOW)).name("allow"),
            store);
    plantAll(binding(allowing));
    assertThat(allowing.tryAcquire("stream"))
        .matches(each -> each.allowed() && each.reason() == Reason.UNCERTAIN);
    RateLimiter local =
        limiter(
            policy(PERMITS)
                .sharing(Sharing.STRICT.onFailure(FailureMode.LOCAL).localShare(0.25))
                .name("local"),
            store);
    plantAll(binding(local));
    assertThat(local.tryAcquire("stream").remaining()).isEqualTo(24);
    assertThat(store.metrics().failures().get("state")).isEqualTo(20 + 1 + 2 + 2);
    assertThat(store.metrics().decided()).isEqualTo(decided);
  }
}
