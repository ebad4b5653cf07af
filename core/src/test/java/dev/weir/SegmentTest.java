package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SegmentTest {
  private static final long WINDOW = 1_000_000;
  private static final Policy POLICY =
      Policy.builder(new Quota(1_000_000, WINDOW)).algorithm(Algorithm.TOKEN_BUCKET).build();

  private static Table table(Algorithm algorithm, Budget budget) {
    return Table.alone(
        Shape.of(Policy.builder(new Quota(100, WINDOW)).algorithm(algorithm).build()),
        budget,
        new Calendar());
  }

  /** Charges a key so that it resets at some later time, and returns that time. */
  private static long charge(Segment segment, Table table, Budget budget, long key, long now) {
    Meter meter = table.meter;
    int slot = segment.find(key);
    if (slot < 0) {
      assertThat(budget.take(1, segment.bytesToAdd())).isTrue();
      slot = segment.addFresh(key, now);
    }
    long[] state = segment.state(slot);
    int at = segment.offset(table, slot);
    long then = meter.effectiveNanos(state, at, now);
    segment.overwrite(table, slot, meter.charge(state, at, then, 0, 200, POLICY, true), now);
    return meter.resetAtNanos(segment.state(slot), segment.offset(table, slot));
  }

  private static @Nullable Long rests(Segment segment, Table table, long key) {
    int slot = segment.find(key);
    return slot < 0
        ? null
        : table.meter.resetAtNanos(segment.state(slot), segment.offset(table, slot));
  }

  @ParameterizedTest
  @EnumSource(
      value = Algorithm.class,
      names = {"TOKEN_BUCKET", "SLIDING_WINDOW_COUNTER", "SLIDING_WINDOW_LOG"})
  void addAndForget_agreeWithAMap_howeverKeysCollide(Algorithm algorithm) {
    int runs = 30;
    SplittableRandom random = Seed.random("SegmentTest, " + algorithm, runs);
    for (int trial = 0; trial < runs; trial++) {
      Budget budget = new Budget(Long.MAX_VALUE / 2, Long.MAX_VALUE / 2);
      Table table = table(algorithm, budget);
      Segment segment = new Segment(table.directory, 4);
      Map<Long, Long> right = new HashMap<>();
      long now = 0;
      long floor = Meter.LONG_AGO;
      int keys = 1 + random.nextInt(400);
      int stretch = 1 + random.nextInt(20_000);
      for (int i = 0; i < 2_000; i++) {
        // Few homes, many keys: long runs that wrap around the end of the array.
        long home = random.nextInt(4) == 0 ? 0xffff_ffffL : 0xf000_0000L;
        long key = (random.nextLong(1, keys + 1) << 32) | home;
        now += random.nextInt(stretch);
        if (random.nextInt(4) > 0) {
          boolean known = segment.find(key) > 0;
          assertThat(known).isEqualTo(right.containsKey(key));
          right.put(key, charge(segment, table, budget, key, now));
        } else {
          segment.forget(now, random.nextInt(8));
        }
        for (Map.Entry<Long, Long> each : Map.copyOf(right).entrySet()) {
          Long rests = rests(segment, table, each.getKey());
          if (rests == null) {
            assertThat(each.getValue()).isLessThanOrEqualTo(now);
            floor = Math.max(floor, each.getValue());
            right.remove(each.getKey());
          } else {
            assertThat(rests).isEqualTo(each.getValue());
          }
        }
        assertThat(segment.floorNanos()).isGreaterThanOrEqualTo(floor);
        assertThat(budget.keys()).isEqualTo(right.size());
        assertThat(segment.size()).isEqualTo(right.size());
      }
      segment.verify();
      segment.forget(now + 100 * WINDOW);
      assertThat(budget.keys()).isZero();
      assertThat(budget.bytes()).isZero();
    }
  }

  @Test
  void find_byHintsFromBeforeAGrowth_findsEveryKey() {
    Budget budget = new Budget(10_000, Long.MAX_VALUE / 2);
    Table table = table(Algorithm.TOKEN_BUCKET, budget);
    Segment segment = new Segment(table.directory, 4);
    Map<Long, Integer> hints = new HashMap<>();
    for (long key = 1; key <= 2_000; key++) {
      charge(segment, table, budget, spread(key), 0);
      hints.put(spread(key), segment.hint(spread(key)));
      assertThat(segment.find(spread(key), segment.hint(spread(key))))
          .isEqualTo(segment.find(spread(key)));
    }
    hints.forEach((key, hint) -> assertThat(segment.find(key, hint)).isEqualTo(segment.find(key)));
    assertThat(segment.hint(spread(2_001))).isEqualTo(Segment.NO_HINT);
    assertThat(segment.find(spread(2_001), Segment.NO_HINT)).isNegative();
  }

  @Test
  void find_byAHintFromWiderSlots_takesNoStateForAKey() {
    Budget budget = new Budget(10_000, Long.MAX_VALUE / 2);
    Table narrowTable = table(Algorithm.TOKEN_BUCKET, budget);
    Table wideTable = table(Algorithm.SLIDING_WINDOW_COUNTER, budget);
    Segment narrow = new Segment(narrowTable.directory, 4);
    Segment wide = new Segment(wideTable.directory, 4);
    for (long key = 1; key <= 300; key++) {
      charge(narrow, narrowTable, budget, spread(-key), 0);
      charge(wide, wideTable, budget, spread(key), 0);
    }
    int met = 0;
    for (long key = 1; key <= 300; key++) {
      int hint = wide.hint(spread(key));
      for (long other = 1; other <= 300; other++) {
        int slot = narrow.find(spread(-other));
        if (narrow.offset(narrowTable, slot) == hint >>> Segment.WIDTH_BITS) {
          narrow.state(slot)[narrow.offset(narrowTable, slot)] = spread(key);
          assertThat(narrow.find(spread(key), hint)).isNegative();
          met++;
        }
      }
    }
    assertThat(met).isPositive();
  }

  private static long spread(long key) {
    return key * 0x9e3779b97f4a7c15L;
  }

  @Test
  void halves_whereAllKeysAreInOne_haveRoomForAll() {
    Budget budget = new Budget(10_000, Long.MAX_VALUE / 2);
    Table table = table(Algorithm.TOKEN_BUCKET, budget);
    Segment segment = new Segment(table.directory, 4);
    for (long key = 1; key <= 5_000; key++) {
      charge(segment, table, budget, ((key * 0x9e3779b97f4a7c15L) >>> 5) | (0x5L << 59), 0);
    }
    Segment[] halves = segment.halves();
    halves[0].verify();
    halves[1].verify();
    assertThat(halves[0].size()).isZero();
    assertThat(halves[1].size()).isEqualTo(5_000);
    assertThat(budget.bytes()).isEqualTo(halves[0].bytes() + halves[1].bytes());
  }

  @Test
  void halves_partTheKeysByTheirNextBit_andLoseNothing() {
    Budget budget = new Budget(10_000, Long.MAX_VALUE / 2);
    Table table = table(Algorithm.SLIDING_WINDOW_LOG, budget);
    Segment segment = new Segment(table.directory, 4);
    SplittableRandom random = new SplittableRandom(1);
    Map<Long, Long> right = new HashMap<>();
    for (int i = 0; i < 3_000; i++) {
      long key = random.nextLong() >>> 4 | 0x5L << 60;
      right.put(key, charge(segment, table, budget, key, i));
    }
    long barred = 0x58L << 56 | 77; // Its next bit is 1; 77's is 0.
    segment.bar(table, 77, 12, 0);
    segment.bar(table, barred, 20, 0);
    Segment[] halves = segment.halves();
    assertThat(segment.isSplit()).isTrue();
    assertThat(segment.size()).isZero();
    right.forEach(
        (key, rests) -> {
          int next = (int) (key >>> 59) & 1;
          assertThat(rests(halves[next], table, key)).isEqualTo(rests);
          assertThat(halves[1 - next].find(key)).isNegative();
        });
    for (Segment half : halves) {
      half.verify();
      boolean first = half == halves[0];
      assertThat(half.barred(table, 77, 12)).isEqualTo(first);
      assertThat(half.barred(table, 77, 13)).isFalse();
      assertThat(half.barred(table, barred, 20)).isEqualTo(!first);
      assertThat(half.barred(table, barred, 21)).isFalse();
      assertThat(half.latestNanos(table)).isEqualTo(segment.latestNanos(table));
      half.clear();
    }
    assertThat(budget.keys()).isZero();
    assertThat(budget.bytes()).isZero();
  }
}
