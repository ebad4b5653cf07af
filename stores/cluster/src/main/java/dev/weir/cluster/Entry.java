package dev.weir.cluster;

/** What entries have in common. */
final class Entry {
  /** The byte after the stamp of operations to be decided, as {@link EntryWriter} writes them. */
  static final int OPERATIONS = 0;

  /**
   * That of an entry in which time passes: what has reset is forgotten, and replicas compare what
   * they came to.
   */
  static final int TICK = 1;

  private Entry() {}

  static void stamp(byte[] entry, long nanos) {
    for (int i = 0; i < Long.BYTES; i++) {
      entry[i] = (byte) (nanos >>> (Long.SIZE - Byte.SIZE - Byte.SIZE * i));
    }
  }

  /**
   * Returns an entry in which time passes.
   *
   * @param index of the entry of this kind before it
   * @param sum what the leader had come to after that one
   */
  static byte[] tick(long index, long sum) {
    return new ByteWriter()
        .writeLong(0)
        .writeByte(TICK)
        .writeNumber(index)
        .writeLong(sum)
        .toBytes();
  }

  /** Returns an entry that only finds out whether entries are committed. */
  static byte[] probe() {
    return new EntryWriter().toEntry();
  }
}
