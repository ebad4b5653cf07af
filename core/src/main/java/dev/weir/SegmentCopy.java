package dev.weir;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A copy of a segment's contents at an instant, for an image. */
final class SegmentCopy {
  final @Nullable Bars bars;
  private final int width;
  private final long[] slots;
  private final @Nullable Slab slab;

  /**
   * Creates a copy from arrays of its own.
   *
   * @param width the longs of a slot
   * @param slots as in {@link Segment}: their number, and then the slots
   * @param slab the states, if they are not in the slots
   */
  SegmentCopy(int width, long[] slots, @Nullable Slab slab, @Nullable Bars bars) {
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
        long[] state =
            slab != null
                ? slab.copy(slots[slot + 1])
                : Arrays.copyOfRange(slots, slot + 1, slot + width);
        visitor.key(slots[slot], state);
      }
    }
  }
}
