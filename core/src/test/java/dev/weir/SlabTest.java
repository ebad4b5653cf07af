package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Blocks are compared with a plain map of the state that each key should have, and its place. */
class SlabTest {
  /**
   * The bytes that each length may waste: a page that is nearly empty, and half of its references.
   */
  private static final long SLACK_BYTES = (1 << 14) + 200;

  private final SplittableRandom random = new SplittableRandom(Seed.SEED);
  private final Map<Long, long[]> right = new HashMap<>();
  private final Map<Long, Long> places = new HashMap<>();
  private final List<Long> keys = new ArrayList<>();
  private Slab slab = new Slab();

  @Test
  void addGrowAndFree_agreeWithAMap_andNoBlocksOverlap() {
    int runs = 40;
    Seed.report("SlabTest, added, grown and freed", runs);
    for (int trial = 0; trial < runs; trial++) {
      int longest = 2 + (1 << random.nextInt(2, 13));
      int most = 1 + random.nextInt(600);
      for (int i = 0; i < 3_000; i++) {
        boolean full = keys.size() >= most || (i / 500 % 2 == 1 && random.nextInt(3) > 0);
        int operation = keys.isEmpty() ? 0 : full ? 1 : random.nextInt(3);
        switch (operation) {
          case 0 -> add(random.nextLong() | 1, longest);
          case 1 -> free(random.nextInt(keys.size()));
          default -> replace(random.nextInt(keys.size()), longest);
        }
        if (i % 100 == 0) {
          check();
        }
      }
      check();
      while (!keys.isEmpty()) {
        free(random.nextInt(keys.size()));
      }
      check();
      assertThat(slab.bytes()).isZero();
    }
  }

  @Test
  void take_partsTheStates_andLosesNone() {
    int runs = 20;
    Seed.report("SlabTest, parted", runs);
    for (int trial = 0; trial < runs; trial++) {
      for (int i = 0; i < 300; i++) {
        add(random.nextLong() | 1, 2 + (1 << random.nextInt(2, 13)));
      }
      Slab from = slab;
      Slab other = new Slab();
      slab = new Slab();
      int others = 0;
      for (long key : List.copyOf(keys)) {
        if (random.nextBoolean()) {
          places.put(key, slab.take(from, place(key)));
        } else {
          long place = other.take(from, place(key));
          assertThat(other.owner(place)).isEqualTo(key);
          assertThat(copy(other, place)).isEqualTo(right.get(key));
          others++;
          forget(key);
        }
      }
      from.clear();
      assertThat(from.bytes()).isZero();
      other.verify(others);
      check();
      while (!keys.isEmpty()) {
        free(random.nextInt(keys.size()));
      }
    }
  }

  @Test
  void free_inAnyOrder_leavesNoHoles() {
    List<Long> freed = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      freed.add(add(53));
    }
    long full = slab.bytes();
    // Frees all but every hundredth, which would keep each page if blocks were not moved.
    for (int i = 0; i < freed.size(); i++) {
      if (i % 100 != 0) {
        free(keys.indexOf(freed.get(i)));
      }
    }
    check();
    assertThat(keys).hasSize(100);
    assertThat(full).isBetween(10_000L * 54 * 8, 10_000L * 54 * 8 + full / 100 + SLACK_BYTES);
    assertThat(slab.bytes()).isBetween(100L * 54 * 8, 100L * 54 * 8 + 2 * SLACK_BYTES);
  }

  @Test
  void glimpse_ofAPlaceThatIsGone_isNullOrHasRoomForAState() {
    Seed.report("SlabTest, places that are gone", 1);
    List<Long> stale = new ArrayList<>(List.of(0L, 1L, 1L << 32, Long.MAX_VALUE));
    for (int i = 0; i < 20_000; i++) {
      if (keys.isEmpty() || random.nextInt(200 + keys.size()) < 200) {
        add(random.nextLong() | 1, 2 + (1 << random.nextInt(2, 13)));
        stale.add(place(keys.get(keys.size() - 1)));
      } else {
        free(random.nextInt(keys.size()));
      }
      long place = stale.get(random.nextInt(stale.size()));
      long[] page = slab.glimpse(place);
      if (page != null) {
        assertThat((int) place).isPositive();
        assertThat((int) place + Slab.blockLongs(page)).isLessThanOrEqualTo(page.length);
      }
    }
  }

  @Test
  void fitting_isAtLeastAsLong_fewAndNeverMuchLonger() {
    Set<Integer> lengths = new HashSet<>();
    for (int longs = 1; longs <= SlidingLog.MAX_LONGS; longs++) {
      int fitting = Slab.fitting(longs);
      lengths.add(fitting);
      if (fitting < longs || fitting > longs + longs / 32 || Slab.fitting(fitting) != fitting) {
        throw new AssertionError(longs + ": " + fitting);
      }
    }
    assertThat(Slab.fitting(SlidingLog.MAX_LONGS)).isEqualTo(SlidingLog.MAX_LONGS);
    assertThat(lengths).hasSizeLessThan(600);
  }

  private long add(int longs) {
    return add(random.nextLong() | 1, longs, longs);
  }

  private void add(long key, int longest) {
    add(key, 1, longest);
  }

  private long add(long key, int least, int longest) {
    long[] state = random.longs(length(least, longest)).toArray();
    right.put(key, state);
    long before = slab.bytes();
    long lengths = parted(state.length);
    long expected = slab.bytesToAdd(lengths);
    places.put(key, slab.add(key, state, lengths));
    keys.add(key);
    if (expected == 0) {
      assertThat(slab.bytes()).isEqualTo(before);
    } else { // And sometimes to references.
      assertThat(slab.bytes() - before).isGreaterThanOrEqualTo(expected);
    }
    return key;
  }

  private int length(int least, int longest) {
    return Slab.fitting(random.nextInt(least, longest + 1));
  }

  /** Returns the lengths of a state's parts: two or three of one in three states. */
  private long parted(int longs) {
    long lengths = Lengths.with(0, 0, longs);
    int behind = random.nextInt(3) == 0 ? longs / 3 : 0;
    if (behind > 0) {
      lengths = Lengths.with(lengths, 0, longs - behind);
      lengths = Lengths.with(lengths, 1, behind / 2);
      lengths = Lengths.with(lengths, 2, behind - behind / 2);
    }
    assertThat(Lengths.total(lengths)).isEqualTo(longs);
    return lengths;
  }

  private static long[] copy(Slab slab, long place) {
    return IntStream.range(0, Lengths.MOST_PARTS)
        .mapToObj(part -> slab.copy(place, part))
        .flatMapToLong(Arrays::stream)
        .toArray();
  }

  private void replace(int index, int longest) {
    long key = keys.get(index);
    long before = place(key);
    long[] state = random.longs(length(1, longest)).toArray();
    right.put(key, state);
    places.put(key, slab.add(key, state, parted(state.length)));
    moved(slab.free(before), before);
  }

  private void free(int index) {
    long key = keys.get(index);
    long place = place(key);
    keys.set(index, keys.get(keys.size() - 1));
    keys.remove(keys.size() - 1);
    places.remove(key);
    right.remove(key);
    moved(slab.free(place), place);
  }

  private long place(long key) {
    return Objects.requireNonNull(places.get(key));
  }

  private void moved(long key, long place) {
    if (key != 0) {
      assertThat(places).containsKey(key);
      places.put(key, place);
    }
  }

  private void forget(long key) {
    keys.remove(key);
    places.remove(key);
    right.remove(key);
  }

  private void check() {
    Map<Integer, boolean[]> taken = new HashMap<>();
    Set<Long> lengths = new HashSet<>();
    long needed = 0;
    Slab copy = slab.copy();
    for (long key : keys) {
      long place = place(key);
      long[] state = Objects.requireNonNull(right.get(key));
      long[] page = slab.page(place);
      assertThat(slab.owner(place)).isEqualTo(key);
      assertThat(copy(slab, place)).isEqualTo(state);
      assertThat(copy(copy, place)).isEqualTo(state);
      assertThat(slab.glimpse(place)).isSameAs(page);
      boolean[] used =
          taken.computeIfAbsent((int) (place >>> 32), number -> new boolean[page.length]);
      for (int i = (int) place - 1; i < (int) place + state.length; i++) {
        assertThat(used[i]).isFalse();
        used[i] = true;
      }
      lengths.add(page[0]);
      needed += 8L * (1 + state.length);
    }
    slab.verify(keys.size());
    assertThat(slab.bytes()).isGreaterThanOrEqualTo(needed);
    assertThat(slab.bytes())
        .isLessThanOrEqualTo(needed + needed / 50 + lengths.size() * SLACK_BYTES + 8_000);
  }

  @Test
  void copy_isNotChangedByWhatFollows() {
    for (int i = 0; i < 500; i++) {
      add(random.nextLong() | 1, 300);
    }
    Map<Long, Long> before = Map.copyOf(places);
    Map<Long, long[]> states = new HashMap<>();
    right.forEach((key, state) -> states.put(key, state.clone()));
    Slab copy = slab.copy();
    for (int i = 0; i < 400; i++) {
      long[] page = slab.page(place(keys.get(0)));
      Arrays.fill(page, 2, 3, random.nextLong());
      free(random.nextInt(keys.size()));
    }
    before.forEach((key, place) -> assertThat(copy(copy, place)).isEqualTo(states.get(key)));
  }
}
