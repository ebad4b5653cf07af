package dev.weir.redis;

import dev.weir.AfterCrash;
import java.nio.ByteBuffer;

/**
 * The mark that shows when counts in the store were lost, in the form that {@code begin.lua}
 * describes: instants of the store's clock, in microseconds.
 *
 * @param born the instant at which it was made, 0 if it is not known
 * @param beat the instant at which it was last written
 * @param lost the instant before which counts were lost, 0 if none are known to be
 */
record Mark(long born, long beat, long lost) {
  /** The mark of a store that this process has not called yet. */
  static final Mark UNKNOWN = new Mark(0, 0, 0);

  private static final int NUMBER_BYTES = 7;
  private static final byte AMNESTY = 1;
  private static final byte DENY = 2;

  /** Returns the argument of the script. */
  byte[] toBytes(AfterCrash afterCrash) {
    ByteBuffer bytes = ByteBuffer.allocate(1 + 3 * NUMBER_BYTES);
    bytes.put(afterCrash == AfterCrash.DENY ? DENY : AMNESTY);
    put(bytes, born);
    put(bytes, beat);
    put(bytes, lost);
    return bytes.array();
  }

  private static void put(ByteBuffer bytes, long number) {
    for (int shift = (NUMBER_BYTES - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
      bytes.put((byte) (number >>> shift));
    }
  }
}
