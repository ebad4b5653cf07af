package dev.weir;

import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What a segment held at an instant, for an image. */
final class SegmentCopy {
  final @Nullable Bars bars;
  private final int width;
  private final long[] slots;
  private final long[] @Nullable [] states;

  /**
   * @param width the longs of a slot
   * @param slots as in {@link Segment}: their number, and then the slots
   * @param states those that have an array of their own, each where its fingerprint is; otherwise
   *     none
   */
  SegmentCopy(int width, long[] slots, long[] @Nullable [] states, @Nullable Bars bars) {
    this.width = width;
    this.slots = slots;
    this.states = states;
    this.bars = bars;
  }

  /** Is handed keys with their states. */
  interface KeyVisitor {
    void key(long fingerprint, long[] state) throws IOException;
  }

  void forEach(KeyVisitor visitor) throws IOException {
    for (int slot = 1; slot < slots.length; slot += width) {
      if (slots[slot] != 0) {
        long[] state =
            states.length > 0
                ? Objects.requireNonNull(states[slot])
                : Arrays.copyOfRange(slots, slot + 1, slot + width);
        visitor.key(slots[slot], state);
      }
    }
  }
}
