package dev.weir.cluster.internal.map;

/**
 * The assignment of keys to groups: each group has the slots for which its number weighs most, but
 * none has much more than its share. [Thaler and Ravishankar, A name-based mapping scheme for
 * rendezvous, 1996] Immutable.
 */
public final class Placement {
  /** The number of slots; a slot is the first bits of the fingerprint. */
  public static final int SLOTS = 1 << 12;

  /** The number of bits by which a slot is shifted left in the fingerprints of its keys. */
  public static final int SHIFT = Long.SIZE - 12;

  private final short[] groups = new short[SLOTS];
  private final int size;

  /**
   * Creates an assignment.
   *
   * @param size the number of groups, 1..256
   */
  public Placement(int size) {
    this.size = size;
    int most = (SLOTS + size - 1) / size + SLOTS / size / 20; // 5 % more than its share.
    int[] has = new int[size];
    for (int slot = 0; slot < SLOTS; slot++) {
      int best = -1;
      long weight = 0;
      for (int group = 0; group < size; group++) {
        long own = weight(slot, group);
        if (has[group] < most && (best < 0 || own > weight)) {
          best = group;
          weight = own;
        }
      }
      groups[slot] = (short) best;
      has[best]++;
    }
  }

  /** Returns a weight by the finalizer of MurmurHash3, which spreads every bit. */
  static long weight(int slot, int group) {
    long z = ((long) slot << 32 | group) + 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 33) * 0xff51afd7ed558ccdL;
    z = (z ^ z >>> 33) * 0xc4ceb9fe1a85ec53L;
    return (z ^ z >>> 33) >>> 1;
  }

  int size() {
    return size;
  }

  public static int slot(long fingerprint) {
    return (int) (fingerprint >>> SHIFT);
  }

  /** Returns the group of each slot, in an array of its own. */
  short[] bySlot() {
    return groups.clone();
  }

  /** Returns the group of a key. */
  int group(long fingerprint) {
    return groups[slot(fingerprint)];
  }

  /** Returns the number of slots of a group. */
  public int slots(int group) {
    int count = 0;
    for (short each : groups) {
      count += each == group ? 1 : 0;
    }
    return count;
  }
}
