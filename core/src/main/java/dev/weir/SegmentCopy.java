package dev.weir;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A copy of a segment's contents at an instant, for an image. */
final class SegmentCopy {
  final @Nullable Bars bars;
  private final Table table;
  private final int width;
  private final long[] slots;
  private final @Nullable Slab slab;

  /**
   * Creates a copy from arrays of its own.
   *
   * @param table whose part of each key's state is visited
   * @param width the longs of a slot
   * @param slots as in {@link Segment}: their number, and then the slots
   * @param slab the states, if they are not in the slots
   */
  SegmentCopy(Table table, int width, long[] slots, @Nullable Slab slab, @Nullable Bars bars) {
    this.table = table;
    this.width = width;
    this.slots = slots;
    this.slab = slab;
    this.bars = bars;
  }

  /** A receiver of keys with their states. */
  interface KeyVisitor {
    void key(long fingerprint, long[] state) throws IOException;
  }

  void forEach(KeyVisitor visitor) throws IOException {
    Scatter order = new Scatter(slots, width);
    for (int slot = order.next(); slot > 0; slot = order.next()) {
      if (slots[slot] != 0) {
        int from = slot + 1 + table.start;
        long[] state =
            slab != null
                ? slab.copy(slots[slot + 1], table.part)
                : Arrays.copyOfRange(slots, from, from + table.fresh.length);
        if (table.directory.isOfOne() || state[0] != table.fresh[0]) {
          visitor.key(slots[slot], state);
        }
      }
    }
  }
}
