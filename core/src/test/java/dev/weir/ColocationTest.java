package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Replica.Entry;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

/** Tables that share a directory: no answer depends on it, and nothing is lost when they do. */
class ColocationTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long KEY = 42;
  private static final List<String> NAMES = List.of("a", "b", "c");

  private static final Policy ANY = Policy.of(Quota.perSecond(1));

  private static Policy policy(Algorithm algorithm, long permits, long seconds) {
    Quota quota = new Quota(permits, seconds * SECOND);
    return Policy.builder(quota).algorithm(algorithm).build();
  }

  private static Table table(Binding binding) {
    ShapeTable[] tables = ((MemoryBinding) binding).history.tables();
    assertThat(tables).hasSize(1);
    return tables[0].table();
  }

  private static boolean areTogether(Binding one, Binding other) {
    return table(one).directory == table(other).directory;
  }

  /** The same operations on a store with tables side by side, and on one without. */
  @Test
  void answers_areThoseOfTablesApart() throws IOException {
    int runs = 200;
    SplittableRandom seeds = Seed.random("ColocationTest", runs);
    int together = 0;
    for (int trial = 0; trial < runs; trial++) {
      SplittableRandom random = seeds.split();
      together += answersAreThoseOfTablesApart(random, "trial " + trial);
    }
    assertThat(together).isGreaterThan(runs);
  }

  private static int answersAreThoseOfTablesApart(SplittableRandom random, String trial)
      throws IOException {
    Operations operations = new Operations(random.split(), random.nextInt(20) == 0);
    Fingerprint fingerprint = Fingerprint.random();
    Replica apart = new Replica(MemoryStore.unbounded(fingerprint));
    Replica beside = new Replica(MemoryStore.unbounded(fingerprint));
    int together = 0;
    int count = random.nextInt(50, 600);
    for (int i = 0; i < count; i++) {
      Entry entry = operations.next();
      String right = apart.apply(entry);
      assertThat(beside.apply(entry))
          .as("-Dweir.seed=%s, %s, operation %s: %s", Seed.SEED, trial, i, entry)
          .isEqualTo(right);
      long request = random.nextLong();
      assertThat(quotas(beside.store, new SplittableRandom(request), operations.now()))
          .as("-Dweir.seed=%s, %s, after %s: %s", Seed.SEED, trial, i, entry)
          .isEqualTo(quotas(apart.store, new SplittableRandom(request), operations.now()));
      switch (random.nextInt(60)) {
        case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 -> together += colocate(beside.store, random);
        case 12 -> beside.sweep(operations.now());
        case 13 -> {
          apart = new Replica(Replica.resumed(Replica.image(apart.store)));
          beside = new Replica(Replica.resumed(Replica.image(beside.store)));
        }
        default -> {}
      }
    }
    assertThat(contents(beside.store, operations.now()))
        .as("-Dweir.seed=%s, %s", Seed.SEED, trial)
        .isEqualTo(contents(apart.store, operations.now()));
    beside.store.verify();
    return together;
  }

  /** Charges all names in force for one key, as a limiter does; returns the answer. */
  private static String quotas(MemoryStore store, SplittableRandom random, long now) {
    long key = random.nextLong(1, 4) * 0x9e3779b97f4a7c15L;
    long permits = random.nextInt(4);
    Charges charges = new Charges();
    for (String name : NAMES) {
      for (ShapeTable each : store.tables(store.rebound(name, ANY))) {
        if (each.retiredNanos() == Long.MAX_VALUE) {
          charges.add(store.rebound(name, each.last()), key, permits);
        }
      }
    }
    if (random.nextInt(5) == 0) {
      charges.peek();
    }
    store.decide(charges, now);
    StringBuilder answer = new StringBuilder().append(charges.allowed());
    for (int i = 0; i < charges.size(); i++) {
      answer.append(", ").append(charges.binding(i)).append(" for ").append(permits).append(": ");
      answer.append(charges.reason(i)).append(' ').append(charges.remaining(i));
      answer.append(' ').append(charges.retryAfterNanos(i)).append(' ');
      answer.append(charges.resetAfterNanos(i)).append(' ').append(charges.atNanos(i));
    }
    return answer.toString();
  }

  /** Returns 1 if any tables share a directory afterwards. */
  static int colocate(MemoryStore store, SplittableRandom random) {
    List<String> names = new ArrayList<>(NAMES);
    Collections.shuffle(names, new java.util.Random(random.nextLong()));
    List<Binding> bindings = new ArrayList<>();
    for (String name : names.subList(0, random.nextInt(2, 4))) {
      bindings.add(store.rebound(name, ANY));
    }
    store.colocate(bindings);
    Set<Directory> directories = new HashSet<>();
    int tables = 0;
    for (Binding each : bindings) {
      for (ShapeTable table : store.tables(each)) {
        directories.add(table.table().directory);
        tables++;
      }
    }
    store.verify();
    return directories.size() < tables ? 1 : 0;
  }

  private static Map<String, String> contents(MemoryStore store, long now) throws IOException {
    Map<String, String> contents = new TreeMap<>(Replica.contents(store, now));
    // Times of changes are those of directories, so that the largest limit may count for longer.
    contents.replaceAll(
        (key, text) -> text.startsWith("Shape") ? text.replaceAll("],([^,]*),.*", "$1") : text);
    return contents;
  }

  @Test
  void limiterOfTwoQuotas_hasOneSlotForAKey() {
    RateLimiter limiter = RateLimiter.of(Quota.perSecond(10), Quota.perMinute(100));
    for (int i = 0; i < 10; i++) {
      assertThat(limiter.tryAcquire("user").allowed()).isTrue();
    }
    Decision refused = limiter.tryAcquire("user");
    assertThat(refused.allowed()).isFalse();
    assertThat(refused.parts()).extracting(Decision::remaining).containsExactly(0L, 90L);
    assertThat(limiter.keys()).isEqualTo(1);
    ((MemoryStore) limiter.store()).verify();
  }

  @Test
  void keysCountedApart_areMovedTogether() {
    MemoryStore store = new MemoryStore();
    Binding logs = store.bind("logs", policy(Algorithm.SLIDING_WINDOW, 10, 60), 0);
    Binding bucket = store.bind("bucket", policy(Algorithm.TOKEN_BUCKET, 10, 60), 0);
    for (long key = 1; key <= 3_000; key++) {
      assertThat(store.decide(logs, key, key % 7, 0)).isNotNegative();
      if (key % 2 == 0) {
        assertThat(store.decide(bucket, key, 1 + key % 5, 0)).isNotNegative();
      }
    }
    store.colocate(List.of(logs, bucket));

    assertThat(areTogether(logs, bucket)).isTrue();
    store.verify();
    for (long key = 1; key <= 3_000; key++) {
      assertThat(store.decide(logs, key, 0, 0)).isEqualTo(10 - key % 7);
      assertThat(store.decide(bucket, key, 0, 0)).isEqualTo(key % 2 == 0 ? 9 - key % 5 : 10);
    }
    store.expire(300 * SECOND);
    for (int i = 0; i < 20; i++) {
      store.expire(300 * SECOND);
    }
    assertThat(store.keys()).isZero();
    store.verify();
  }

  @Test
  void otherWindow_countsApart_andTogetherAgainOnceTheOldOneIsOver() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.SLIDING_WINDOW, 10, 1), 0);
    Binding two = store.bind("two", policy(Algorithm.SLIDING_WINDOW, 100, 60), 0);
    store.colocate(List.of(one, two));
    assertThat(areTogether(one, two)).isTrue();
    Charges both = new Charges().add(one, KEY, 7).add(two, KEY, 7);
    store.decide(both, 0);

    Binding longer = store.bind("one", policy(Algorithm.SLIDING_WINDOW, 10, 2), 0);
    assertThat(((MemoryBinding) longer).history.tables()).hasSize(2);
    assertThat(store.decide(longer, KEY, 0, 0)).isEqualTo(3);
    assertThat(store.decide(two, KEY, 0, 0)).isEqualTo(93);

    store.expire(10 * SECOND);
    assertThat(areTogether(longer, two)).isTrue();
    assertThat(store.decide(two, KEY, 0, 10 * SECOND)).isEqualTo(93);
    store.verify();
  }

  @Test
  void tooManyKeysToMoveAtOnce_areMovedOnceThereAreFewer() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.TOKEN_BUCKET, 10, 1), 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 10, 2), 0);
    for (long key = 1; key <= 1 << 16; key++) {
      long spread = key * 0x9e3779b97f4a7c15L;
      assertThat(store.decide(one, spread, 1, 0)).isNotNegative();
    }
    assertThat(store.decide(two, KEY, 1, 0)).isNotNegative();
    store.colocate(List.of(one, two));
    assertThat(areTogether(one, two)).isFalse();

    for (int i = 0; i < 20; i++) {
      store.expire(2 * SECOND);
    }
    assertThat(areTogether(one, two)).isTrue();
    store.verify();
  }

  @Test
  void countsThatWereRead_areMovedHoweverManyThereAre() throws IOException {
    MemoryStore store = new MemoryStore();
    List<Binding> bindings = bindings(store);
    for (long key = 1; key <= 100_000; key++) {
      long spread = key * 0x9e3779b97f4a7c15L;
      store.decide(
          new Charges().add(bindings.get(0), spread, 1).add(bindings.get(1), spread, 2), 0);
    }
    byte[] image = Replica.image(store);
    MemoryStore restored =
        MemoryStore.restored(new ByteArrayInputStream(image), 1_000_000, Long.MAX_VALUE / 2, 0, 0);
    List<Binding> after = bindings(restored);

    assertThat(areTogether(after.get(0), after.get(1))).isTrue();
    assertThat(restored.keys()).isEqualTo(100_000);
    for (long key = 1; key <= 100_000; key++) {
      long spread = key * 0x9e3779b97f4a7c15L;
      assertThat(restored.decide(after.get(0), spread, 0, 0)).isEqualTo(9);
      assertThat(restored.decide(after.get(1), spread, 0, 0)).isEqualTo(18);
    }
    restored.verify();
  }

  private static List<Binding> bindings(MemoryStore store) {
    List<Binding> bindings =
        List.of(
            store.bind("one", policy(Algorithm.SLIDING_WINDOW, 10, 60), 0),
            store.bind("two", policy(Algorithm.SLIDING_WINDOW, 20, 600), 0));
    store.colocate(bindings);
    return bindings;
  }

  @Test
  void boundOnKeys_isTheLeastOfTheNames_forKeysSideBySide() {
    MemoryStore store = new MemoryStore();
    Policy.Builder few = Policy.builder(Quota.perSecond(5)).maxKeys(3);
    Binding one = store.bind("one", few.algorithm(Algorithm.TOKEN_BUCKET).build(), 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 5, 2), 0);
    store.colocate(List.of(one, two));
    for (long key = 1; key <= 4; key++) {
      Charges charges = new Charges().add(one, key, 1).add(two, key, 1);
      store.decide(charges, 0);
      assertThat(charges.allowed()).isEqualTo(key <= 3);
      assertThat(charges.reason(0) == Reason.KEY_SPACE_FULL).isEqualTo(key > 3);
    }
    store.bind("one", few.maxKeys(4).algorithm(Algorithm.TOKEN_BUCKET).build(), 0);
    assertThat(store.decide(two, 4, 1, 0)).isNotNegative();
    store.verify();
  }

  /** Threads request more than there is of every key while its quotas are moved together. */
  @Test
  void requestsDuringTheMove_admitTheLimit_andNotOneMore() throws Exception {
    int runs = 60;
    SplittableRandom random = Seed.random("ColocationTest, threads", runs);
    for (int trial = 0; trial < runs; trial++) {
      MemoryStore store = new MemoryStore();
      int keys = random.nextInt(1, 400);
      Algorithm[] algorithms = Algorithm.values();
      Algorithm first = algorithms[random.nextInt(algorithms.length)];
      Algorithm second = algorithms[random.nextInt(algorithms.length)];
      Binding one = store.bind("one", policy(first, 5, 60), 0);
      Binding two = store.bind("two", policy(second, 7, 600), 0);
      AtomicIntegerArray admitted = new AtomicIntegerArray(keys);
      AtomicInteger forgotten = new AtomicInteger();
      CountDownLatch started = new CountDownLatch(2);
      Runnable requests =
          () -> {
            started.countDown();
            for (int i = 0; i < 8 * keys; i++) {
              int key = i % keys;
              long spread = (key + 1) * 0x9e3779b97f4a7c15L;
              Charges charges = new Charges().add(one, spread, 1).add(two, spread, 1);
              store.decide(charges, 0);
              admitted.addAndGet(key, charges.allowed() ? 1 : 0);
              forgotten.addAndGet(store.decide(one, spread, 0, 0) > 4 ? 1 : 0);
            }
          };
      Thread[] threads = {new Thread(requests), new Thread(requests)};
      for (Thread thread : threads) {
        thread.start();
      }
      started.await();
      for (int spin = random.nextInt(2_000); spin > 0; spin--) {
        Thread.onSpinWait();
      }
      store.colocate(List.of(one, two));
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(areTogether(one, two)).isTrue();
      assertThat(forgotten).hasValue(0);
      store.verify();
      for (int key = 0; key < keys; key++) {
        assertThat(admitted.get(key)).as("-Dweir.seed=%s, %s", Seed.SEED, trial).isEqualTo(5);
        assertThat(store.decide(two, (key + 1) * 0x9e3779b97f4a7c15L, 0, 0)).isEqualTo(2);
      }
    }
  }

  @Test
  void hintDuringAnImage_isFollowedAfterIt() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.TOKEN_BUCKET, 10, 1), 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 10, 2), 0);
    try (Image image = store.beginImage()) {
      store.colocate(List.of(one, two));
      assertThat(image.names()).hasSize(2);
      assertThat(areTogether(one, two)).isFalse();
    }
    store.expire(0);
    assertThat(areTogether(one, two)).isTrue();
  }

  @Test
  void nameThatIsGone_boundsTheOthersNoLonger() {
    MemoryStore store = new MemoryStore();
    Policy few = Policy.builder(Quota.perSecond(5)).maxKeys(2).build();
    Binding one = store.bind("one", few, 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 5, 60), 0);
    store.colocate(List.of(one, two));
    store.decide(new Charges().add(one, 1, 1).add(two, 1, 1), 0);
    store.retire("one", 0);
    store.expire(10 * SECOND);
    for (long key = 1; key <= 10; key++) {
      assertThat(store.decide(two, key, 1, 10 * SECOND)).isNotNegative();
    }
    store.verify();
  }

  @Test
  void nameThatSketches_isApartFromOneWithAnotherBound() {
    MemoryStore store = new MemoryStore();
    Policy.Builder sketch = Policy.builder(Quota.perSecond(5)).whenFull(FullMode.SKETCH);
    Binding one = store.bind("one", sketch.build(), 0);
    Binding two = store.bind("two", Policy.builder(Quota.perSecond(5)).maxKeys(2).build(), 0);
    store.colocate(List.of(one, two));
    assertThat(areTogether(one, two)).isFalse();
  }

  /** Keys that found no room are counted in cells, which are moved as cells. */
  @Test
  void cells_areMovedAsCells() {
    MemoryStore store = new MemoryStore(64);
    Policy.Builder sketch = Policy.builder(new Quota(5, 60 * SECOND)).whenFull(FullMode.SKETCH);
    Binding one = store.bind("one", sketch.algorithm(Algorithm.TOKEN_BUCKET).build(), 0);
    Binding two = store.bind("two", sketch.algorithm(Algorithm.FIXED_WINDOW).build(), 0);
    for (long key = 1; key <= 80; key++) {
      long permits = key > 64 ? 5 : 1; // Keys of one cell share what there is.
      boolean admitted = store.decide(one, key * 0x9e3779b97f4a7c15L, permits, 0) >= 0;
      assertThat(admitted || key > 65).isTrue();
    }
    assertThat(table(one).sketching()).isTrue();
    for (long key = 1; key <= 60; key++) {
      store.reset(one, key * 0x9e3779b97f4a7c15L, 0);
    }
    store.colocate(List.of(one, two));
    assertThat(areTogether(one, two)).isTrue();
    assertThat(table(one).sketching()).isTrue();
    assertThat(table(two).sketching()).isFalse();
    for (long key = 65; key <= 80; key++) {
      assertThat(store.decide(one, key * 0x9e3779b97f4a7c15L, 1, 0)).as("key %s", key).isNegative();
    }
    store.verify();
  }

  @Test
  void thirdQuota_joinsTheOthers_andJoinsThemAgainAfterAChangeOfItsWindow() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.TOKEN_BUCKET, 5, 1), 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 5, 2), 0);
    Binding three = store.bind("three", policy(Algorithm.TOKEN_BUCKET, 5, 3), 0);
    store.colocate(List.of(one, two));
    store.decide(new Charges().add(one, KEY, 2).add(two, KEY, 3), 0);
    store.colocate(List.of(one, two, three));
    assertThat(areTogether(one, three)).isTrue();
    assertThat(areTogether(two, three)).isTrue();
    assertThat(store.decide(one, KEY, 0, 0)).isEqualTo(3);
    assertThat(store.decide(two, KEY, 0, 0)).isEqualTo(2);

    Binding changed = store.bind("three", policy(Algorithm.TOKEN_BUCKET, 5, 4), 0);
    store.expire(0);
    assertThat(areTogether(one, two)).isTrue();
    store.expire(60 * SECOND);
    assertThat(areTogether(one, changed)).isTrue();
    store.verify();
  }

  @Test
  void keysThatDiffer_areChargedTogether() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.TOKEN_BUCKET, 3, 60), 0);
    Binding two = store.bind("two", policy(Algorithm.SLIDING_WINDOW, 3, 60), 0);
    store.colocate(List.of(one, two));
    for (long key = 1; key <= 100; key++) {
      long first = key * 0x9e3779b97f4a7c15L;
      for (int i = 0; i < 4; i++) {
        Charges charges = new Charges().add(one, first, 1).add(two, -first, 1);
        store.decide(charges, 0);
        assertThat(charges.allowed()).isEqualTo(i < 3);
      }
    }
    assertThat(store.keys()).isEqualTo(200);
    store.verify();
  }

  @Test
  void slotFreedForAnotherKeyOfTheRequest_isCountedWhenItIsAddedAgain() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.FIXED_WINDOW, 3, 1), 0);
    List<Long> keys = new ArrayList<>();
    for (long key = 1; keys.size() < 200; key++) {
      keys.add(key); // All in the first segment.
    }
    for (long key : keys) {
      assertThat(store.decide(one, key, 1, 0)).isNotNegative();
    }
    long later = 5 * SECOND;
    for (int i = 0; i < keys.size(); i++) {
      Charges charges = new Charges().add(one, 1_000 + i, 1).add(one, keys.get(i), 1);
      store.decide(charges, later);
      assertThat(charges.allowed()).isTrue();
      store.verify();
    }
  }

  /** A bound on keys that changes makes other cells, but those that are there still count. */
  @Test
  void cellsOfAnEarlierBound_countAfterTheMove() {
    MemoryStore store = new MemoryStore(10_000);
    Policy.Builder sketch = Policy.builder(new Quota(5, 60 * SECOND)).whenFull(FullMode.SKETCH);
    sketch.algorithm(Algorithm.TOKEN_BUCKET);
    Binding one = store.bind("one", sketch.maxKeys(100).build(), 0);
    for (long key = 1; key <= 140; key++) {
      boolean admitted = store.decide(one, key * 0x9e3779b97f4a7c15L, 5, 0) >= 0;
      assertThat(admitted || key > 101).isTrue();
    }
    Binding wider = store.bind("one", sketch.maxKeys(1_000).build(), 0);
    Binding two = store.bind("two", Policy.builder(Quota.perMinute(9)).maxKeys(1_000).build(), 0);
    store.colocate(List.of(wider, two));
    assertThat(areTogether(wider, two)).isTrue();
    for (long key = 1; key <= 140; key++) {
      assertThat(store.decide(wider, key * 0x9e3779b97f4a7c15L, 1, 0)).isNegative();
    }
    store.verify();
  }

  /** A move takes new segments while it holds old ones, so the new ones come last in the order. */
  @Test
  void segmentsOfTheNewDirectory_areLockedAfterAllOthers() {
    MemoryStore store = new MemoryStore();
    Binding one = store.bind("one", policy(Algorithm.TOKEN_BUCKET, 10, 60), 0);
    Binding two = store.bind("two", policy(Algorithm.TOKEN_BUCKET, 10, 600), 0);
    long last = -1;
    for (Binding each : List.of(one, two)) {
      for (Segment segment : table(each).directory.all()) {
        last = Math.max(last, segment.order);
      }
    }
    store.colocate(List.of(one, two));
    for (Segment segment : table(one).directory.all()) {
      assertThat(segment.order).isGreaterThan(last);
    }
  }

  @Test
  void quotasWithSpareCapacity_areLeftApart() {
    Policy elastic = Policy.builder(Quota.perMinute(9)).throttle(Throttle.elastic(0.5)).build();
    RateLimiter limiter = RateLimiter.of(elastic, Policy.of(Quota.perSecond(5)));
    limiter.tryAcquire("user");
    assertThat(limiter.keys()).isEqualTo(2);
  }
}
