package dev.weir;

import java.util.Arrays;

/**
 * The objects that a thread needs while it decides in a {@link MemoryStore}. They are reused, so
 * that a decision allocates nothing. Between decisions they refer to no state.
 */
final class Workspace {
  private static final ThreadLocal<Workspace> OWN = ThreadLocal.withInitial(Workspace::new);

  final SegmentLocks locks = new SegmentLocks();
  final JointPath joint = new JointPath();
  final QuotaResults quotas = new QuotaResults();

  /** A request of one charge, for the slow path if the caller has passed none. */
  final Charges one = new Charges();

  private LockedKey[] keys = {};
  private int[] hints = {};

  @SuppressWarnings("unused")
  private long prefetched;

  private Workspace() {}

  /** Returns this thread's workspace. */
  static Workspace own() {
    return OWN.get();
  }

  /** Returns at least {@code size} keys, always the same ones. */
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

  /** Returns an array with room for a hint for each of {@code size} requests. */
  int[] hints(int size) {
    if (hints.length < size) {
      hints = new int[size];
    }
    return hints;
  }

  /** Uses prefetched memory: without a use the compiler would drop the reads. */
  void prefetched(long read) {
    prefetched = read;
  }
}
