package dev.weir.cluster.internal.map;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlacementTest {
  private static final int SLOTS = Placement.SLOTS;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 8, 16, 64, 255, 256})
  void everyGroup_hasItsShare(int size) {
    Placement placement = new Placement(size);
    int sum = 0;
    for (int group = 0; group < size; group++) {
      int share = (SLOTS + size - 1) / size;
      assertThat(placement.slots(group)).isLessThanOrEqualTo(share + SLOTS / size / 20);
      assertThat(placement.slots(group)).as("of %d", size).isPositive();
      if (size <= 16) {
        // The shortage of a group is at most the surplus of the others.
        assertThat(placement.slots(group)).isGreaterThanOrEqualTo(SLOTS / size * 3 / 4);
      }
      sum += placement.slots(group);
    }
    assertThat(sum).isEqualTo(SLOTS);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 15})
  void oneGroupMore_movesAboutItsShare(int size) {
    Placement before = new Placement(size);
    Placement after = new Placement(size + 1);
    int moved = 0;
    int elsewhere = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
      long fingerprint = (long) slot << 52;
      if (before.group(fingerprint) != after.group(fingerprint)) {
        moved++;
        elsewhere += after.group(fingerprint) == size ? 0 : 1;
      }
    }
    int share = SLOTS / (size + 1);
    assertThat(moved).isBetween(share * 9 / 10, share * 12 / 10);
    assertThat(elsewhere).as("moved between old groups").isLessThanOrEqualTo(SLOTS / 20);
  }

  @Test
  void slot_isTheFirstBits() {
    assertThat(Placement.slot(0)).isZero();
    assertThat(Placement.slot(-1)).isEqualTo(SLOTS - 1);
    assertThat(Placement.slot(1L << 52)).isEqualTo(1);
    assertThat(Placement.slot((1L << 52) - 1)).isZero();
  }
}
