package dev.weir;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The objects that a thread needs while it decides in a {@link MemoryStore}; it uses them again, so
 * that a decision allocates nothing. Between decisions it refers to no state.
 */
final class Workspace {
  private static final ThreadLocal<Workspace> OWN = ThreadLocal.withInitial(Workspace::new);

  final SegmentLocks locks = new SegmentLocks();

  /** A request of one charge, for the slow path where the caller brought none. */
  final Charges one = new Charges();

  private LockedKey[] keys = {};
  private @Nullable Segment[] segments = {};
  private int[] slots = {};

  @SuppressWarnings("unused")
  private long prefetched;

  private Workspace() {}

  /** Returns this thread's own. */
  static Workspace own() {
    return OWN.get();
  }

  /** Returns at least so many keys, always the same ones. */
  LockedKey[] keys(int size) {
    int known = keys.length;
    if (known < size) {
      keys = Arrays.copyOf(keys, Math.max(size, 2 * known));
      for (int i = known; i < keys.length; i++) {
        keys[i] = new LockedKey();
      }
    }
    return keys;
  }

  /** Makes room for where the keys of so many requests are. */
  void batch(int size) {
    if (segments.length < size) {
      segments = new Segment[size];
      slots = new int[size];
    }
  }

  /** Takes note of the segment in which the key of request {@code i} is or would be. */
  void segment(int i, Segment segment) {
    segments[i] = segment;
  }

  /** Finds the keys' slots in those segments. They are only hints: nothing is locked. */
  void findSlots(Batch batch) {
    for (int i = 0; i < batch.size(); i++) {
      Segment segment = segments[i];
      slots[i] = segment == null ? 0 : segment.find(MemoryStore.nonZero(batch.fingerprint(i)));
    }
  }

  @Nullable Segment segment(int i) {
    return segments[i];
  }

  int slot(int i) {
    return slots[i];
  }

  /** Drops the references to the segments. */
  void clearBatch(int size) {
    Arrays.fill(segments, 0, size, null);
  }

  /** Keeps what was prefetched alive: without a use the compiler would drop the reads. */
  void prefetched(long read) {
    prefetched = read;
  }
}
