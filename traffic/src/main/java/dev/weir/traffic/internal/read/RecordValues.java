package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The values of the wanted columns of one record, each a slice of bytes in UTF-8. They are valid
 * until the reader moves on, and filled anew for every record.
 */
public final class RecordValues {
  private static final byte[] NOTHING = new byte[0];

  private final byte[][] data;
  private final int[] from;
  private final int[] to;

  public RecordValues(int slots) {
    data = new byte[slots][];
    from = new int[slots];
    to = new int[slots];
    Arrays.fill(data, NOTHING);
  }

  public void set(int slot, byte[] bytes, int start, int end) {
    data[slot] = bytes;
    from[slot] = start;
    to[slot] = end;
  }

  public byte[] data(int slot) {
    return data[slot];
  }

  public int from(int slot) {
    return from[slot];
  }

  public int to(int slot) {
    return to[slot];
  }

  public String text(int slot) {
    return new String(data[slot], from[slot], to[slot] - from[slot], StandardCharsets.UTF_8);
  }

  String quoted(int slot) {
    return ShownText.quoted(data[slot], from[slot], to[slot]);
  }
}
