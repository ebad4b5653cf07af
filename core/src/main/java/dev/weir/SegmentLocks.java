package dev.weir;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The segments that a request locks together, in the one order in which every thread locks them.
 * Reusable.
 */
final class SegmentLocks {
  private @Nullable Segment[] segments = {};
  private long[] stamps = {};
  private int size;

  /** Adds a segment, unless it has been added already. */
  void add(Segment segment) {
    int place = size;
    while (place > 0 && order(place - 1) > segment.order) {
      place--;
    }
    if (place > 0 && order(place - 1) == segment.order) {
      return;
    }
    if (size == segments.length) {
      segments = Arrays.copyOf(segments, 2 * size + 2);
      stamps = Arrays.copyOf(stamps, 2 * size + 2);
    }
    System.arraycopy(segments, place, segments, place + 1, size - place);
    segments[place] = segment;
    size++;
  }

  private long order(int i) {
    return Objects.requireNonNull(segments[i]).order;
  }

  /** Locks all segments. Returns whether all of them still hold their keys. */
  boolean lock() {
    boolean current = true;
    for (int i = 0; i < size; i++) {
      Segment segment = Objects.requireNonNull(segments[i]);
      stamps[i] = segment.writeLock();
      current &= !segment.isSplit();
    }
    return current;
  }

  /** Unlocks all segments and forgets them; splits those that have become large. */
  void unlock() {
    for (int i = 0; i < size; i++) {
      Objects.requireNonNull(segments[i]).unlockWrite(stamps[i]);
    }
    for (int i = 0; i < size; i++) {
      Objects.requireNonNull(segments[i]).splitIfLarge();
      segments[i] = null;
    }
    size = 0;
  }
}
