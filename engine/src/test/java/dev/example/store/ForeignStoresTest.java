package dev.example.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.FailureMode;
import dev.weir.Fingerprint;
import dev.weir.ForwardingStore;
import dev.weir.LocalStore;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.Sharing;
import dev.weir.Store;
import dev.weir.engine.RoutedStore;
import dev.weir.rules.StoreChoice;
import dev.weir.testkit.AlgorithmContract;
import dev.weir.testkit.BoundedStoreContract;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.RecordChangeContract;
import dev.weir.testkit.RuleChangeContract;
import dev.weir.testkit.StoreContract;
import dev.weir.testkit.StoreKind;
import java.lang.management.ManagementFactory;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contracts of every store, for stores from outside, written against public types only: one
 * that decides on the caller's thread, a remote one, and two of them routed.
 */
class ForeignStoresTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int MAX_KEYS = 1 << 20;
  private static final double EFFORT = 0.2;
  private static final StoreKind LOCAL = StoreKind.of(() -> new ListStore(MAX_KEYS)).exactly();
  private static final StoreKind REMOTE =
      StoreKind.of(RemoteStore::new).exactly().withEffort(EFFORT).withoutCounts();

  private static Policy policy(Algorithm algorithm, long permits) {
    return Policy.builder(Quota.perSecond(permits)).algorithm(algorithm).name("rule").build();
  }

  @Nested
  class LocalStores extends StoreContract {
    @Override
    protected StoreKind kind() {
      return LOCAL.withEffort(EFFORT);
    }
  }

  @Nested
  class LocalBounds extends BoundedStoreContract {
    @Override
    protected StoreKind kind(long maxKeys) {
      return StoreKind.of(() -> new ListStore(maxKeys));
    }
  }

  @Nested
  class LocalRuleChanges extends RuleChangeContract {
    @Override
    protected StoreKind kind() {
      return LOCAL.withEffort(EFFORT);
    }

    @Override
    protected boolean boundsShapes() {
      return false;
    }
  }

  @Nested
  class LocalRecordChanges extends RecordChangeContract {
    @Override
    protected StoreKind kind() {
      return LOCAL.withEffort(EFFORT);
    }
  }

  private abstract static class SmallQuotas extends AlgorithmContract {
    SmallQuotas(Algorithm algorithm) {
      super(algorithm);
    }

    @Override
    protected Policy randomPolicy(SplittableRandom random) {
      return policy(Quota.perSecond(random.nextLong(1, 40)));
    }
  }

  @Nested
  @ParameterizedClass
  @EnumSource(
      value = Algorithm.class,
      names = {
        "SLIDING_WINDOW_LOG",
        "SLIDING_WINDOW_BUCKETS",
        "SLIDING_WINDOW_COUNTER",
        "FIXED_WINDOW",
        "TOKEN_BUCKET"
      })
  class LocalAlgorithms extends SmallQuotas {
    LocalAlgorithms(Algorithm algorithm) {
      super(algorithm);
    }

    @Override
    protected StoreKind kind() {
      return LOCAL.withEffort(EFFORT);
    }
  }

  @Nested
  class RemoteStores extends StoreContract {
    @Override
    protected StoreKind kind() {
      return REMOTE;
    }
  }

  @Nested
  class RemoteAlgorithm extends SmallQuotas {
    RemoteAlgorithm() {
      super(Algorithm.SLIDING_WINDOW_LOG);
    }

    @Override
    protected StoreKind kind() {
      return REMOTE;
    }
  }

  /** Two stores as one: the names of limits choose between them. */
  private static final class Routed extends ForwardingStore<RoutedStore> {
    private final Function<String, StoreChoice> choices;

    Routed(Store local, Store shared, Function<String, StoreChoice> choices) {
      super(RoutedStore.of(local, shared));
      this.choices = choices;
    }

    @Override
    public Binding bind(String name, Policy policy, long nowNanos) {
      return delegate.bind(name, policy, choices.apply(name), nowNanos);
    }
  }

  /**
   * Returns the store of a limit of the contract, by turns; buckets are in the one whose charges
   * stay charged.
   */
  private static StoreChoice firstOrSecond(String name) {
    return switch (name) {
      case "wide", "five", "rule-1", "rule-3", "sliding-window-log", "fixed-window" ->
          StoreChoice.LOCAL;
      default -> StoreChoice.SHARED;
    };
  }

  private static StoreKind routed(Supplier<? extends Store> first) {
    return StoreKind.of(
            () -> new Routed(first.get(), new RemoteStore(), ForeignStoresTest::firstOrSecond))
        .exactly()
        .withEffort(EFFORT)
        .withoutCounts();
  }

  @Tag("model")
  @Nested
  class LocalAndRemote extends StoreContract {
    @Override
    protected StoreKind kind() {
      return routed(LOCAL.empty());
    }
  }

  @Tag("model")
  @Nested
  class RemoteAndRemote extends StoreContract {
    @Override
    protected StoreKind kind() {
      return routed(REMOTE.empty());
    }
  }

  private static Charges decide(Store store, Charges charges, long now) {
    CompletableFuture<Charges> answer = new CompletableFuture<>();
    store.decide(charges, now, answer::complete);
    return answer.join();
  }

  @Test
  void remoteBeforeLocal_theLocalOneIsChargedFirst_soItsRefusalCostsTheRemoteNothing() {
    RoutedStore store = RoutedStore.of(new RemoteStore(), new ListStore(MAX_KEYS));
    Binding remote = store.bind("a", policy(Algorithm.FIXED_WINDOW, 5), StoreChoice.LOCAL, 0);
    Binding local = store.bind("b", policy(Algorithm.FIXED_WINDOW, 0), StoreChoice.SHARED, 0);
    Charges both = decide(store, new Charges().add(remote, 1, 1).add(local, 1, 1), 0);
    assertThat(both.allowed()).isFalse();
    assertThat(both.remaining(0)).isEqualTo(5);
    assertThat(decide(store, new Charges().add(remote, 1, 5), 0).allowed()).isTrue();
    store.close();
  }

  @Test
  void secondRemoteRefuses_theFirstHasEverythingBackWhenTheAnswerComes() {
    for (Algorithm algorithm : Algorithm.values()) {
      RoutedStore store = RoutedStore.of(new RemoteStore(), new RemoteStore());
      Binding wide = store.bind("a", policy(algorithm, 5), StoreChoice.LOCAL, 0);
      Binding none = store.bind("b", policy(algorithm, 0), StoreChoice.SHARED, 0);
      Charges request = new Charges().add(wide, 1, 2).add(none, 1, 1).add(wide, 1, 3);
      assertThat(decide(store, request, 0).allowed()).isFalse();
      assertThat(request.remaining(0)).as("%s", algorithm).isEqualTo(5);
      assertThat(decide(store, new Charges().add(wide, 1, 5), 0).allowed()).isTrue();
      store.close();
    }
  }

  @Test
  void batchOverTwoRemoteStores_isAnsweredInItsOrder() {
    RoutedStore store = RoutedStore.of(new RemoteStore(), new RemoteStore());
    Binding a = store.bind("a", policy(Algorithm.FIXED_WINDOW, 3), StoreChoice.LOCAL, 0);
    Binding b = store.bind("b", policy(Algorithm.FIXED_WINDOW, 7), StoreChoice.SHARED, 0);
    Batch batch = new Batch(4).detailed().add(a, 1, 1).add(b, 1, 1).add(a, 1, 3).add(b, 1, 2);
    CompletableFuture<Batch> answer = new CompletableFuture<>();
    store.decide(batch, 0, answer::complete);
    answer.join();
    assertThat(batch.decision(0)).isEqualTo(2);
    assertThat(batch.decision(1)).isEqualTo(6);
    assertThat(batch.allowed(2)).isFalse();
    assertThat(batch.remaining(2)).isEqualTo(2);
    assertThat(batch.decision(3)).isEqualTo(4);
    store.close();
  }

  @Test
  void bindingOfNeitherStore_isRefusedBeforeAnythingIsCharged() {
    ListStore first = new ListStore(MAX_KEYS);
    RoutedStore store = RoutedStore.of(first, new RemoteStore());
    Binding own = store.bind("a", policy(Algorithm.FIXED_WINDOW, 3), StoreChoice.LOCAL, 0);
    Binding foreign = new ListStore(1).bind("a", policy(Algorithm.FIXED_WINDOW, 3), 0);
    Charges charges = new Charges().add(own, 1, 1).add(foreign, 1, 1);
    assertThatThrownBy(() -> store.decide(charges, 0, done -> {}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected: one of either store");
    assertThat(first.keys()).isZero();
    store.close();
  }

  @Test
  void limiterOnForeignStores_decidesPeeksRefundsAndBatches() {
    for (Store store : new Store[] {new ListStore(MAX_KEYS), new RemoteStore()}) {
      FakeTicker ticker = new FakeTicker();
      RateLimiter limiter =
          RateLimiter.builder(policy(Algorithm.TOKEN_BUCKET, 3))
              .store(store)
              .ticker(ticker)
              .build();
      Decision two = limiter.tryAcquire("k", 2);
      assertThat(two.remaining()).isEqualTo(1);
      assertThat(limiter.peek("k", 2).allowed()).isFalse();
      assertThat(limiter.refund("k", 2, two)).isEqualTo(2);
      assertThat(limiter.packed().decide("k", 3)).isZero();
      long[] decisions = new long[2];
      limiter.packed().decide(new long[] {1, 2}, 1, decisions);
      assertThat(decisions).containsExactly(2, 2);
      store.close();
    }
  }

  @Test
  void noRoomUnderAllow_isLetPassAndCountedNowhere() {
    ListStore store = new ListStore(1);
    Policy allow =
        Policy.builder(Quota.perSecond(5))
            .name("rule")
            .sharing(Sharing.STRICT.onFailure(FailureMode.ALLOW))
            .build();
    RateLimiter limiter = RateLimiter.builder(allow).store(store).build();
    assertThat(limiter.tryAcquire("known").allowed()).isTrue();
    Decision passed = limiter.tryAcquire("new");
    assertThat(passed.allowed()).isTrue();
    assertThat(passed.reason()).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(limiter.packed().decide("new", 1)).isZero();
    assertThat(store.keys()).isEqualTo(1);
  }

  /** A store in this process that allows everything and costs nothing. */
  private static final class FreeStore implements LocalStore {
    private record Rule(FreeStore store, String name, Policy policy) implements Binding {}

    @Override
    public Fingerprint fingerprint() {
      return Fingerprint.shared();
    }

    @Override
    public Binding bind(String name, Policy policy, long nowNanos) {
      return new Rule(this, name, policy);
    }

    @Override
    public Binding variant(Binding binding, Policy policy) {
      return new Rule(this, binding.name(), policy);
    }

    @Override
    public void retire(String name, long nowNanos) {}

    @Override
    public void decide(Charges charges, long nowNanos) {
      for (int i = 0; i < charges.size(); i++) {
        charges.result(i, Reason.WITHIN_LIMIT, 1, 0, 0, nowNanos);
      }
      charges.settle();
    }

    @Override
    public void decide(Batch batch, long nowNanos) {
      for (int i = 0; i < batch.size(); i++) {
        batch.decision(i, 1);
      }
    }

    @Override
    public long decide(Binding binding, long fingerprint, long permits, long nowNanos) {
      return 1;
    }

    @Override
    public long refund(
        Binding binding, long fingerprint, long permits, Decision charged, long nowNanos) {
      return permits;
    }

    @Override
    public boolean reset(Binding binding, long fingerprint, long nowNanos) {
      return false;
    }

    @Override
    public void expire(long nowNanos) {}

    @Override
    public void close() {}
  }

  @Test
  void limiterOnAForeignLocalStore_allocatesNothingBeyondTheStoresOwnWork() {
    PackedLimiter limiter =
        RateLimiter.builder(policy(Algorithm.FIXED_WINDOW, 5))
            .store(new FreeStore())
            .build()
            .packed();
    long[] keys = {1, 2, 3, 4};
    long[] decisions = new long[4];
    long least = Long.MAX_VALUE;
    for (int round = 0; round < 20; round++) { // Repeated until the code is compiled.
      long before = allocated();
      decideOften(limiter, keys, decisions, 20_000);
      least = Math.min(least, allocated() - before);
    }
    // Less than a byte a decision: compilers and profilers allocate as well.
    assertThat(least).isLessThan(20_000);
  }

  private static void decideOften(PackedLimiter limiter, long[] keys, long[] decisions, int times) {
    for (int i = 0; i < times; i++) {
      limiter.decide(i, 1);
      limiter.decide(keys, 1, decisions);
    }
  }

  private static long allocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  @Test
  void sizesOfAStoreThatHasNone_areUnbounded() {
    Store store = new RemoteStore();
    assertThat(store.keys()).isZero();
    assertThat(store.maxKeys()).isEqualTo(Long.MAX_VALUE);
    assertThat(store.fullPercent()).isZero();
    ListStore small = new ListStore(2);
    small.decide(small.bind("rule", policy(Algorithm.FIXED_WINDOW, 5), 0), 1, 1, SECOND);
    assertThat(small.fullPercent()).isEqualTo(50);
    store.close();
  }
}
