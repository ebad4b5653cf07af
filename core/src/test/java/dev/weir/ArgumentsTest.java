package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Invalid arguments are refused with a message that names the expected ones. */
class ArgumentsTest {
  private static final Duration SECOND = Duration.ofSeconds(1);

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
  private static <T> T none() {
    return null;
  }

  private static Policy.Builder policy() {
    return Policy.builder(Quota.perMinute(3));
  }

  private static Arguments argument(String name, ThrowingCallable call) {
    return Arguments.of(name, call);
  }

  static Stream<Arguments> nulls() {
    RateLimiter limiter = RateLimiter.builder(policy().build()).build();
    Decision decision = limiter.tryAcquire("k");
    MemoryStore store = new MemoryStore();
    Binding binding = store.bind("n", policy().algorithm(Algorithm.TOKEN_BUCKET).build(), 0);
    Fingerprint fingerprint = Fingerprint.random();
    Charges charges = new Charges().add(binding, 1, 1);
    return Stream.of(
        argument("userId", () -> new RateLimiter(1, 1).allow(none(), 0)),
        argument("key", () -> limiter.tryAcquire(none())),
        argument("key", () -> limiter.tryAcquire(none(), 2)),
        argument("key", () -> limiter.tryAcquireAsync(none())),
        argument("key", () -> limiter.tryAcquireAsync(none(), 2)),
        argument("key", () -> limiter.packed().decide(ArgumentsTest.<String>none(), 1)),
        argument("keys", () -> limiter.packed().decide(none(), 1, new long[1])),
        argument("decisions", () -> limiter.packed().decide(new long[1], 1, none())),
        argument("key", () -> limiter.peek(none())),
        argument("key", () -> limiter.peek(none(), 2)),
        argument("key", () -> limiter.refund(none(), 1, decision)),
        argument("charged", () -> limiter.refund("k", 1, none())),
        argument("key", () -> limiter.acquire(none(), SECOND)),
        argument("timeout", () -> limiter.acquire("k", none())),
        argument("key", () -> limiter.acquire(none(), 1, SECOND)),
        argument("timeout", () -> limiter.acquire("k", 1, none())),
        argument("key", () -> limiter.reserve(none(), 1, SECOND)),
        argument("maxWait", () -> limiter.reserve("k", 1, none())),
        argument("policy", () -> RateLimiter.builder(ArgumentsTest.<Policy>none())),
        argument("quota", () -> RateLimiter.of(ArgumentsTest.<Quota>none())),
        argument("policy", () -> limiter.replace(ArgumentsTest.<Policy>none())),
        argument("listener", () -> limiter.listen(none())),
        argument("key", () -> limiter.forKey(ArgumentsTest.<String>none())),
        argument("key", () -> limiter.forKey(ArgumentsTest.<byte[]>none())),
        argument("key", () -> limiter.forKey("a", none())),
        argument("key", () -> limiter.reset(none())),
        argument("key", () -> limiter.acquire(none())),
        argument("key", () -> limiter.acquireAsync(none())),
        argument("key", () -> limiter.tryAcquireUpTo(none(), 1)),
        argument("name", () -> RateLimiter.builder(policy().build()).name(none())),
        argument("listener", () -> RateLimiter.builder(policy().build()).listener(none())),
        argument("ticker", () -> RateLimiter.builder(policy().build()).ticker(none())),
        argument("load", () -> RateLimiter.builder(policy().build()).load(none())),
        argument("store", () -> RateLimiter.builder(policy().build()).store(none())),
        argument("quota", () -> Policy.of(none())),
        argument("quota", () -> Policy.builder(none())),
        argument("name", () -> policy().name(none())),
        argument("algorithm", () -> policy().algorithm(none())),
        argument("granularity", () -> policy().granularity(none())),
        argument("sharing", () -> policy().sharing(none())),
        argument("onFailure", () -> Sharing.STRICT.onFailure(none())),
        argument("consistency", () -> Sharing.STRICT.consistency(none())),
        argument("syncInterval", () -> Sharing.STRICT.syncInterval(none())),
        argument("whenFull", () -> policy().whenFull(none())),
        argument("throttle", () -> policy().throttle(none())),
        argument("decided", () -> policy().build().throttled(none(), false)),
        argument("window", () -> Quota.of(1, none())),
        argument("reason", () -> new Decision(false, none(), "p", 1, 1, 1, 1, 1)),
        argument("policy", () -> new Decision(false, Reason.INVALID, none(), 1, 1, 1, 1, 1)),
        argument("key", () -> fingerprint.of(ArgumentsTest.<String>none())),
        argument("key", () -> fingerprint.of(ArgumentsTest.<CharSequence>none())),
        argument("key", () -> fingerprint.of(ArgumentsTest.<ByteBuffer>none())),
        argument("key", () -> fingerprint.of(none(), 0, 0)),
        argument("part", () -> fingerprint.add(0, none())),
        argument("binding", () -> new Charges().add(none(), 1, 1)),
        argument("role", () -> new Charges().add(binding, 1, 1, none())),
        argument("role", () -> charges.role(0, none())),
        argument("binding", () -> new Batch(1).add(none(), 1, 1)),
        argument("name", () -> store.bind(none(), policy().build(), 0)),
        argument("policy", () -> store.bind("n", none(), 0)),
        argument("name", () -> store.retire(none(), 0)),
        argument("policy", () -> store.variant(binding, none())),
        argument("charges", () -> store.decide(ArgumentsTest.<Charges>none(), 0, done -> {})),
        argument("done", () -> store.decide(charges, 0, none())),
        argument("charges", () -> store.decide(ArgumentsTest.<Charges>none(), 0)),
        argument("batch", () -> store.decide(ArgumentsTest.<Batch>none(), 0)),
        argument("charged", () -> store.refund(binding, 1, 1, none(), 0)),
        argument("done", () -> store.reset(binding, 1, 0, none())),
        argument("requests", () -> store.expect(none(), 0)),
        argument("batch", () -> store.decide(ArgumentsTest.<Batch>none(), 0, done -> {})),
        argument("done", () -> store.decide(new Batch(1), 0, none())),
        argument("charged", () -> store.refund(binding, 1, 1, none(), 0, given -> {})),
        argument("done", () -> store.refund(binding, 1, 1, decision, 0, none())));
  }

  @ParameterizedTest
  @MethodSource("nulls")
  void null_isRefusedByItsName(String name, ThrowingCallable call) {
    assertThatNullPointerException()
        .isThrownBy(call)
        .withMessage("%s: null (expected: a value)", name);
  }

  @Test
  void granularity_ofAnAlgorithmWithoutGranules_isRefused_asABurstOfAWindowIs() {
    for (Algorithm algorithm : Algorithm.values()) {
      Policy.Builder builder = policy().algorithm(algorithm).granularity(SECOND);
      if (algorithm.granular()) {
        assertThat(builder.build().granularityNanos()).isEqualTo(1_000_000_000L);
      } else {
        assertThatIllegalArgumentException()
            .isThrownBy(builder::build)
            .withMessage("granularity: PT1S (expected: none, %s has no granules)", algorithm);
      }
    }
  }

  @Test
  void policyWithoutAName_isRefusedInAStoreThatOthersMayUse() {
    MemoryStore store = new MemoryStore();
    Policy unnamed = Policy.of(Quota.perMinute(3));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> RateLimiter.builder(unnamed).store(store).build())
        .withMessage(
            "policy: without a name (expected: a name, under which the store keeps its counts)");
    assertThat(RateLimiter.builder(unnamed).build().tryAcquire("k").policy())
        .as("by itself a limiter needs no name")
        .isEqualTo("default");
  }

  @Test
  void limitersOfTwoNames_countApart_andThoseOfOneAreAChangeOfTheLimit() {
    MemoryStore store = new MemoryStore();
    RateLimiter api = RateLimiter.builder(policy().name("api").build()).store(store).build();
    RateLimiter login = RateLimiter.builder(policy().name("login").build()).store(store).build();
    assertThat(api.tryAcquire("k", 3).allowed()).isTrue();
    assertThat(login.tryAcquire("k", 3).allowed()).isTrue();

    Policy more = Policy.builder(Quota.perMinute(5)).name("api").build();
    RateLimiter changed = RateLimiter.builder(more).store(store).build();
    assertThat(changed.tryAcquire("k", 2).allowed()).as("three of five are used").isTrue();
    assertThat(changed.tryAcquire("k").allowed()).isFalse();
  }

  @Test
  void whatCanNeverFit_isNotRetryable() {
    RateLimiter limiter = RateLimiter.builder(policy().build()).build();
    assertThat(limiter.tryAcquire("k", 3).retryable()).as("allowed").isFalse();
    Decision later = limiter.tryAcquire("k");
    assertThat(later.retryable()).isTrue();
    assertThat(later.retryAfterSeconds()).isBetween(1L, 60L);
    Decision never = limiter.tryAcquire("k", 4);
    assertThat(never.retryable()).isFalse();
    assertThat(never.retryAfterNanos()).isEqualTo(Decision.NEVER);
    assertThat(never.retryAfterSeconds()).as("a header can have it").isEqualTo(366 * 86_400);
    assertThat(never.retryAfterMillis()).isEqualTo(366 * 86_400_000L);
  }
}
