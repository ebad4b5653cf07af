package dev.weir.config.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.config.Threads;
import dev.weir.engine.SubjectLimits;
import dev.weir.engine.SubjectLimits.OwnLimit;
import dev.weir.testkit.Trials;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag("model")
@Tag("sample")
@Timeout(180)
class SubjectTableTest {
  private static final int SLOTS = 4 * SubjectTable.MIN_SLOTS;

  private static SubjectLimits limits(long number) {
    return number == 0
        ? SubjectLimits.NONE
        : new SubjectLimits(null, Map.of("r", new OwnLimit(number & 0xffff_ffffL)));
  }

  private static int seen(SubjectTable table) {
    Set<Long> seen = new HashSet<>();
    table.forEach(
        Integer.MAX_VALUE, (of, limits, current, seconds) -> assertThat(seen.add(of)).isTrue());
    return seen.size();
  }

  @Test
  void randomWrites_areReadBackOrLeftAndNeverMixed() {
    int runs = Trials.unseeded("table of subjects", Trials.runs(4, 12));
    for (long seed = 1; seed <= runs; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SubjectTable table = new SubjectTable(SLOTS, 500);
      Map<Long, Long> model = new HashMap<>();
      Set<Long> outdated = new HashSet<>();
      List<Long> subjects = new ArrayList<>();
      int count = 100 + random.nextInt(40_000);
      for (int i = 0; i < count; i++) {
        subjects.add(random.nextLong());
      }
      for (int i = 0; i < 60_000; i++) {
        long of = subjects.get(random.nextInt(count));
        int what = random.nextInt(20);
        String at = "seed " + seed + ", step " + i;
        if (what < 10) {
          long number = random.nextInt(3) == 0 ? random.nextInt(1_000) : 0;
          boolean kept = table.put(of, limits(number), i, false);
          model.put(of, number);
          outdated.remove(of);
          if (kept) {
            assertThat(table.current(of)).as(at).isEqualTo(limits(number));
          } else {
            assertThat(table.lastKnown(of, Integer.MIN_VALUE, Integer.MIN_VALUE)).as(at).isNull();
          }
        } else if (what < 12) {
          table.outdate(of, i);
          outdated.add(of);
          assertThat(table.current(of)).as(at).isNull();
        } else {
          SubjectLimits found = table.current(of);
          SubjectLimits known = table.lastKnown(of, Integer.MIN_VALUE, Integer.MIN_VALUE);
          if (found != null) {
            assertThat(outdated.contains(of)).as(at).isFalse();
            assertThat(found).as(at).isEqualTo(known);
          }
          if (known != null) {
            assertThat(known).as(at).isEqualTo(limits(Objects.requireNonNull(model.get(of))));
          }
        }
      }
      assertCounts(table, outdated, "seed " + seed);
    }
  }

  private static void assertCounts(SubjectTable table, Set<Long> outdated, String as) {
    int[] counts = new int[3];
    Set<SubjectLimits> different = new HashSet<>();
    table.forEach(
        Integer.MAX_VALUE,
        (of, limits, current, seconds) -> {
          counts[limits.equals(SubjectLimits.NONE) ? 0 : 1]++;
          counts[2] += outdated.contains(of) ? 1 : 0;
          different.add(limits);
        });
    different.remove(SubjectLimits.NONE);
    assertThat(table.absent()).as(as).isEqualTo(counts[0]);
    assertThat(table.known()).as(as).isEqualTo(counts[1]);
    assertThat(table.stale()).as(as).isEqualTo(counts[2]);
    assertThat(table.limits()).as(as).isEqualTo(different.size());
    assertThat(table.bytes()).as(as).isLessThanOrEqualTo(16L * SLOTS);
    table.outdateAll(0);
    assertThat(table.stale()).as(as).isEqualTo(counts[0] + counts[1]);
    table.clear();
    assertThat(table.known() + table.absent() + table.stale() + table.limits()).as(as).isZero();
    assertThat(seen(table)).as(as).isZero();
  }

  @Test
  void tableGrows_asSubjectsComeAndLosesNone() {
    SubjectTable table = new SubjectTable(64 * SubjectTable.MIN_SLOTS, 10);
    assertThat(table.bytes()).isEqualTo(64 << 10);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 32 * SubjectTable.MIN_SLOTS; i++) {
      table.put(random.nextLong(), SubjectLimits.NONE, 0, false);
    }
    assertThat(table.bytes()).isEqualTo(64L * SubjectTable.MIN_SLOTS * 16);
    assertThat(table.absent() + table.evicted()).isEqualTo(32 * SubjectTable.MIN_SLOTS);
    assertThat(table.absent()).isGreaterThan(30 * SubjectTable.MIN_SLOTS);
    assertThat(seen(table)).isEqualTo(table.absent());
  }

  @Test
  void fullSet_givesUpStaleThenUnreadThenOldest() {
    SubjectTable table = new SubjectTable(SubjectTable.MIN_SLOTS, 10);
    int filled = 0; // A table of the largest size, so that a full set does not make it grow.
    long set = 1L << 32;
    for (long i = 1; i <= 4; i++) {
      table.put(i * set, limits(i), (int) i, false);
      filled++;
    }
    assertThat(filled).isEqualTo(4);
    assertThat(table.current(set)).isNotNull(); // It was read; the oldest stays.
    table.outdate(4 * set, 9);
    table.put(5 * set, limits(5), 10, false);
    assertThat(table.lastKnown(4 * set, 0, 0)).isNull();
    table.put(6 * set, limits(6), 11, false);
    assertThat(table.current(set)).isNotNull();
    assertThat(table.evicted()).isEqualTo(2);
    int left = 0;
    for (long i = 1; i <= 6; i++) {
      left += table.current(i * set) == null ? 0 : 1;
    }
    assertThat(left).isEqualTo(4);
    table.put(7 * set, limits(7), 12, false); // All were read: the oldest leaves.
    assertThat(table.current(set)).isNull();
  }

  @Test
  void tooManyDifferentLimits_giveUpOthersThatWereNotRead() {
    SubjectTable table = new SubjectTable(SubjectTable.MIN_SLOTS, 10);
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 1; i <= 1_000; i++) {
      long of = random.nextLong();
      assertThat(table.put(of, limits(i), i, false)).isTrue();
      assertThat(table.current(of)).isEqualTo(limits(i));
      assertThat(table.limits()).isLessThanOrEqualTo(10);
    }
  }

  @Test
  void ages_decideWhatIsTooOld() {
    SubjectTable table = new SubjectTable(SLOTS, 10);
    table.put(1, limits(1), -5, false);
    assertThat(table.loaded(1, -5)).isNotNull();
    assertThat(table.loaded(1, -4)).isNull();
    assertThat(table.lastKnown(1, -4, -5)).isNull();
    table.outdate(1, 7);
    assertThat(table.loaded(1, -9)).isNull();
    assertThat(table.lastKnown(1, 100, 7)).isEqualTo(limits(1));
    assertThat(table.lastKnown(1, -9, 8)).isNull();
    table.outdate(1, 9); // It was outdated before.
    assertThat(table.lastKnown(1, 0, 8)).isNull();
  }

  /** The number in a subject's limits identifies the subject, so any mixture is noticed. */
  @Test
  void readersWhileItIsWritten_neverGetAnothersLimits() throws Exception {
    long seed = 20_261;
    int subjects = 20_000;
    long[] fingerprints = new SplittableRandom(seed).longs(subjects).toArray();
    SubjectTable table = new SubjectTable(SLOTS, 2_000);
    AtomicBoolean ended = new AtomicBoolean();
    long[] found = new long[8];
    Threads.race(
        8,
        thread -> {
          SplittableRandom random = new SplittableRandom(seed + thread);
          if (thread == 0) {
            try {
              write(table, fingerprints, random);
            } finally {
              ended.set(true);
            }
            return;
          }
          while (!ended.get()) {
            int subject = random.nextInt(subjects);
            SubjectLimits limits =
                random.nextBoolean()
                    ? table.current(fingerprints[subject])
                    : table.lastKnown(fingerprints[subject], -9, -9);
            if (limits != null && !limits.equals(SubjectLimits.NONE)) {
              OwnLimit own = Objects.requireNonNull(limits.own().get("r"));
              assertThat(own.requestsPerUnit() / 16).as("seed %d", seed).isEqualTo(subject);
              found[thread]++;
            }
          }
        });
    assertThat(Arrays.stream(found).sum()).isPositive();
  }

  private static void write(SubjectTable table, long[] fingerprints, SplittableRandom random) {
    for (int i = 0; i < 500_000; i++) {
      int subject = random.nextInt(fingerprints.length);
      long of = fingerprints[subject];
      int what = random.nextInt(100_000);
      if (what == 0) {
        table.clear();
      } else if (what == 1) {
        table.outdateAll(1);
      } else if (what < 20_000) {
        table.outdate(of, 1);
      } else {
        long number = random.nextInt(4) == 0 ? 0 : 16L * subject + random.nextInt(16);
        table.put(of, limits(number), 0, random.nextInt(9) == 0);
      }
    }
  }
}
