package dev.weir.cluster.internal.state;

import dev.weir.cluster.internal.map.ClusterMap;
import dev.weir.cluster.internal.peer.ByteWriter;
import dev.weir.cluster.internal.peer.Levels;

/** The common parts of all entries. */
public final class Entry {
  /**
   * The byte after the stamp of an entry with operations to be decided, as {@link EntryWriter}
   * writes them.
   */
  public static final int OPERATIONS = 0;

  /**
   * The byte of an entry in which time passes: states that have reset are removed, and replicas
   * compare their sums.
   */
  public static final int TICK = 1;

  /**
   * The byte of an entry that puts another {@link ClusterMap} in force, if the one before it is the
   * one from which it was made. Only group 0 has a map.
   */
  public static final int MAP = 2;

  /** The byte of an entry about one slot, as {@link SlotEntry} writes it. */
  public static final int SLOT = 3;

  /** The byte of an entry from which on the group is at a higher level, see {@link Levels}. */
  static final int LEVEL = 4;

  /** The byte of an entry that steps the group's calendar ahead. */
  public static final int CALENDAR = 5;

  /** The highest byte of an entry; 255 is a bundle's. */
  public static final int MOST_KIND = CALENDAR;

  private Entry() {}

  public static void stamp(byte[] entry, long nanos) {
    for (int i = 0; i < Long.BYTES; i++) {
      entry[i] = (byte) (nanos >>> (Long.SIZE - Byte.SIZE - Byte.SIZE * i));
    }
  }

  /**
   * Returns an entry in which time passes.
   *
   * @param index of the entry of this kind before it
   * @param sum the leader's sum after that one
   */
  public static byte[] tick(long index, long sum) {
    return new ByteWriter()
        .writeLong(0)
        .writeByte(TICK)
        .writeNumber(index)
        .writeLong(sum)
        .toBytes();
  }

  /**
   * Returns an entry that puts a map in force. The reply to it is an instant, as for every entry,
   * and the map in force after it.
   *
   * @param expected the epoch of the map from which {@code next} was made
   */
  public static byte[] map(long expected, ClusterMap next) {
    ByteWriter out = new ByteWriter().writeLong(0).writeByte(MAP).writeNumber(expected);
    next.write(out);
    return out.toBytes();
  }

  /**
   * Returns an entry from which on the group is at a level; one that is not higher than the group's
   * changes nothing. The reply to it is an instant, as for every entry, and the level after it.
   */
  public static byte[] level(int level) {
    return new ByteWriter().writeLong(0).writeByte(LEVEL).writeNumber(level).toBytes();
  }

  /**
   * Returns an entry that steps the group's calendar to the time of a wall clock, unless that is
   * less than {@link Replica#LEAST_STEP_NANOS} ahead of it. The reply to it is an instant, as for
   * every entry, and the offset of the calendar from the group's time after it.
   */
  public static byte[] calendar(long wallNanos) {
    return new ByteWriter().writeLong(0).writeByte(CALENDAR).writeLong(wallNanos).toBytes();
  }

  /** Returns an entry that only finds out whether entries are committed. */
  public static byte[] probe() {
    return new EntryWriter().toEntry();
  }
}
