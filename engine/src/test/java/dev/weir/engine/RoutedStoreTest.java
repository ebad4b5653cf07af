package dev.weir.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.weir.Algorithm;
import dev.weir.Batch;
import dev.weir.Binding;
import dev.weir.Charges;
import dev.weir.Decision;
import dev.weir.ForwardingStore;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.Store;
import dev.weir.rules.StoreChoice;
import dev.weir.testkit.LateStore;
import dev.weir.testkit.Trials;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The store that each call of a routed store goes to. */
class RoutedStoreTest {
  private static Policy policy(long permits) {
    return Policy.of(Quota.perSecond(permits));
  }

  private static long charge(Store store, Binding binding, long permits) {
    Charges charges = new Charges().add(binding, 7, permits);
    store.decide(charges, 0, done -> {});
    return charges.allowed() ? charges.remaining(0) : -1;
  }

  @Test
  void choice_namesTheStore_andTheSharedOneIsTheDefault() {
    MemoryStore local = new MemoryStore();
    MemoryStore shared = new MemoryStore();
    RoutedStore store = RoutedStore.of(local, shared);
    assertThat(store.fingerprint()).isSameAs(shared.fingerprint());
    assertThat(local.owns(store.bind("a", policy(1), StoreChoice.LOCAL, 0))).isTrue();
    assertThat(shared.owns(store.bind("b", policy(1), StoreChoice.SHARED, 0))).isTrue();
    assertThat(shared.owns(store.bind("c", policy(1), StoreChoice.DEFAULT, 0))).isTrue();
    assertThat(shared.owns(store.bind("d", policy(1), 0))).isTrue();

    RoutedStore alone = RoutedStore.local(local);
    assertThat(alone.fingerprint()).isSameAs(local.fingerprint());
    assertThat(local.owns(alone.bind("c", policy(1), StoreChoice.DEFAULT, 0))).isTrue();
    assertThat(alone.has(StoreChoice.SHARED)).isFalse();
    assertThatThrownBy(() -> alone.bind("b", policy(1), StoreChoice.SHARED, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("b: store: shared (expected: local, there is no shared store)");

    RoutedStore one = RoutedStore.inOne(local);
    assertThat(local.owns(one.bind("b", policy(1), StoreChoice.SHARED, 0))).isTrue();
  }

  @Test
  void nameThatMoves_startsAfresh_andFindsWhatItLeftWhenItComesBack() {
    MemoryStore local = new MemoryStore();
    MemoryStore shared = new MemoryStore();
    RoutedStore store = RoutedStore.of(local, shared);
    assertThat(charge(store, store.bind("n", policy(3), StoreChoice.LOCAL, 0), 2)).isEqualTo(1);
    assertThat(charge(store, store.bind("n", policy(3), StoreChoice.SHARED, 0), 3)).isZero();
    assertThat(charge(store, store.bind("n", policy(3), StoreChoice.LOCAL, 0), 2)).isEqualTo(-1);

    // A name that is out of force in both stores is forgotten in both.
    store.retire("n", 0);
    for (int i = 0; i < 64; i++) {
      store.expire(60_000_000_000L);
    }
    assertThat(store.bytes()).isZero();
    assertThat(store.keys()).isZero();
  }

  @Test
  void name_isInForceInOneStore() {
    List<String> log = new ArrayList<>();
    RoutedStore store = RoutedStore.of(new MemoryStore(), new UncertainStore(log));
    store.bind("n", policy(1), StoreChoice.SHARED, 0);
    store.bind("n", policy(2), StoreChoice.DEFAULT, 0);
    assertThat(log).isEmpty();
    store.bind("n", policy(1), StoreChoice.LOCAL, 0);
    assertThat(log).containsExactly("retire n");
    store.retire("n", 0);
    store.retire("unknown", 0);
    assertThat(log).hasSize(1);
    store.bind("n", policy(1), StoreChoice.SHARED, 0);
    store.retire("n", 0);
    assertThat(log).containsExactly("retire n", "retire n");
  }

  @Test
  void refund_goesToTheStoreThatCharged() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    for (StoreChoice choice : StoreChoice.values()) {
      Binding binding = store.bind("rule " + choice, policy(3), choice, 0);
      Charges charges = new Charges().add(binding, 7, 3);
      store.decide(charges, 0, done -> {});
      List<Long> given = new ArrayList<>();
      store.refund(binding, 7, 2, charges.decision(0), 0, given::add);
      assertThat(given).containsExactly(2L);
      assertThat(charge(store, binding, 1)).isEqualTo(1);
    }
  }

  @Test
  void room_isThatOfTheStoreInThisProcess() {
    MemoryStore local = new MemoryStore(10, 1 << 20);
    RoutedStore store = RoutedStore.of(local, new MemoryStore(99));
    charge(store, store.bind("a", policy(1), StoreChoice.LOCAL, 0), 1);
    assertThat(store.keys()).isEqualTo(1);
    assertThat(store.maxKeys()).isEqualTo(10);
    assertThat(store.bytes()).isEqualTo(local.bytes()).isPositive();
    assertThat(store.maxBytes()).isEqualTo(1 << 20);
  }

  @Test
  void batchOverBoth_isDecidedAsIfByOne_howeverTheSharedStoreAnswers() {
    int runs = 50;
    SplittableRandom random = Trials.random("RoutedStoreTest.batches", runs);
    for (int round = 0; round < runs; round++) {
      LateStore late = new LateStore();
      RoutedStore two = RoutedStore.of(new MemoryStore(), late);
      MemoryStore one = new MemoryStore();
      Batch asked = new Batch(1).detailed();
      Batch expected = new Batch(1).detailed();
      List<List<Binding>> limits = List.of(new ArrayList<>(), new ArrayList<>());
      for (int i = 0; i < 4; i++) {
        StoreChoice choice = i % 2 == 0 ? StoreChoice.LOCAL : StoreChoice.SHARED;
        limits.get(0).add(two.bind("rule-" + i, policy(i * 3L), choice, 0));
        limits.get(1).add(one.bind("rule-" + i, policy(i * 3L), 0));
      }
      for (int i = random.nextInt(1, 60); i > 0; i--) {
        int limit = random.nextInt(4);
        long key = random.nextLong(1, 4);
        long permits = random.nextLong(0, 5);
        asked.add(limits.get(0).get(limit), key, permits);
        expected.add(limits.get(1).get(limit), key, permits);
      }
      List<Batch> answered = new ArrayList<>();
      two.decide(asked, 5, answered::add);
      late.answer();
      one.decide(expected, 5, done -> {});
      assertThat(answered).containsExactly(asked);
      for (int i = 0; i < asked.size(); i++) {
        assertThat(asked.decision(i)).as("round %d, %d", round, i).isEqualTo(expected.decision(i));
        assertThat(asked.remaining(i)).isEqualTo(expected.remaining(i));
        assertThat(asked.resetAfterNanos(i)).isEqualTo(expected.resetAfterNanos(i));
      }
    }
  }

  @Test
  void batchWithoutDetails_isSplitAsWell() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    Binding here = store.bind("here", policy(1), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", policy(1), StoreChoice.SHARED, 0);
    Batch batch = new Batch(4).add(here, 7, 1).add(there, 7, 1).add(here, 7, 1).add(there, 7, 9);
    store.decide(batch, 0, done -> {});
    assertThat(List.of(batch.decision(0), batch.decision(1))).containsExactly(0L, 0L);
    assertThat(batch.decision(2)).isEqualTo(-1_000_000_000L);
    assertThat(batch.decision(3)).isEqualTo(-Decision.NEVER);
  }

  @Test
  void batchOverTwoStores_keepsTheCausesOfEach() {
    ForwardingStore<MemoryStore> away =
        new ForwardingStore<>(new MemoryStore()) {
          @Override
          public void decide(Batch part, long nowNanos, Consumer<? super Batch> done) {
            part.cause(1, "timeout");
            done.accept(part);
          }
        };
    RoutedStore store = RoutedStore.of(new MemoryStore(), away);
    Binding here = store.bind("here", policy(1), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", policy(1), StoreChoice.SHARED, 0);
    Batch batch = new Batch(3).add(there, 7, 1).add(here, 7, 1).add(there, 8, 1);
    store.decide(batch, 0, done -> {});
    assertThat(List.of(batch.cause(0), batch.cause(1), batch.cause(2)))
        .containsExactly("", "", "timeout");
  }

  @Test
  void emptyRequestAndBatch_areAnsweredAtOnce() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new LateStore());
    List<Object> answered = new ArrayList<>();
    store.decide(new Charges(), 0, answered::add);
    store.decide(new Batch(1), 0, answered::add);
    assertThat(answered).hasSize(2);
  }

  @Test
  void fullStoreHere_refusesAndChargesNothingThere() {
    MemoryStore shared = new MemoryStore();
    RoutedStore store = RoutedStore.of(new MemoryStore(1), shared);
    Binding here = store.bind("here", policy(5), StoreChoice.LOCAL, 0);
    Binding there = store.bind("there", policy(5), StoreChoice.SHARED, 0);
    assertThat(charge(store, here, 1)).isEqualTo(4);
    Charges both = new Charges().add(here, 8, 1).add(there, 7, 1);
    store.decide(both, 0, done -> {});
    assertThat(both.allowed()).isFalse();
    assertThat(both.reason(0)).isEqualTo(Reason.KEY_SPACE_FULL);
    assertThat(shared.keys()).isZero();
  }

  @Test
  void requestForOneStore_allocatesNothing() {
    RoutedStore store = RoutedStore.of(new MemoryStore(), new MemoryStore());
    Policy bucket =
        Policy.builder(Quota.perSecond(1_000_000)).algorithm(Algorithm.TOKEN_BUCKET).build();
    for (StoreChoice choice : List.of(StoreChoice.LOCAL, StoreChoice.SHARED)) {
      Binding binding = store.bind("rule " + choice, bucket, choice, 0);
      Charges charges = new Charges();
      decide(store, binding, charges, 1_000);
      long before = allocated();
      decide(store, binding, charges, 100_000);
      // Less than a byte a decision: compilers and profilers allocate as well.
      assertThat(allocated() - before).isLessThan(100_000);
    }
  }

  private static void decide(RoutedStore store, Binding binding, Charges charges, int times) {
    Charges[] announced = {charges};
    for (int i = 0; i < times; i++) {
      charges.clear().add(binding, 7, 1);
      store.expect(announced, 1);
      store.decide(charges, i, RoutedStoreTest::ignore);
    }
  }

  private static void ignore(Charges charges) {}

  private static long allocated() {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  @Test
  void close_closesBothOnce() {
    List<String> closed = new ArrayList<>();
    RoutedStore.of(new MemoryStore(), new UncertainStore(closed)).close();
    assertThat(closed).containsExactly("closed");
    RoutedStore.inOne(new UncertainStore(closed)).close();
    assertThat(closed).hasSize(2);
  }
}
