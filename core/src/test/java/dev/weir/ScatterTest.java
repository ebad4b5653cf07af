package dev.weir;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ScatterTest {
  @Test
  void eachSlot_comesOnce() {
    for (int count = 0; count < 2_000; count++) {
      for (int width : new int[] {2, 5}) {
        Scatter order = new Scatter(new long[1 + count * width], width);
        BitSet passed = new BitSet();
        for (int slot = order.next(); slot > 0; slot = order.next()) {
          assertThat((slot - 1) % width).isZero();
          assertThat(passed.get(slot)).as("%s of %s", slot, count).isFalse();
          passed.set(slot);
        }
        assertThat(passed.cardinality()).isEqualTo(count);
        assertThat(order.next()).isZero();
      }
    }
  }

  /** No part of an array is passed before the others: gaps between passed slots are alike. */
  @Test
  void slotsThatWerePassed_areSpreadEvenly() {
    for (int count : new int[] {1 << 13, 7_290, 6_561, 5_041}) {
      Scatter order = new Scatter(new long[1 + count], 1);
      TreeSet<Integer> passed = new TreeSet<>();
      for (int many = 1; many <= count; many++) {
        passed.add(order.next());
        if (many % 97 == 0) {
          int widest = 0;
          int before = passed.last() - count;
          for (int slot : passed) {
            widest = Math.max(widest, slot - before);
            before = slot;
          }
          assertThat(widest).as("%s of %s", many, count).isLessThan(4 * count / many + 4);
        }
      }
    }
  }
}
