package dev.weir.insight;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/**
 * A codec of rows as bytes: numbers of 7 bits a byte, the lowest first, each increased by one so
 * that {@link Series#UNKNOWN} is 0. The names of rules are stored elsewhere, under numbers.
 */
final class RowCodec {
  private static final int LOW_BITS = 0x7f;
  private static final int MORE = 0x80;

  private RowCodec() {}

  static byte[] encode(Row row, ToIntFunction<String> numberOf) {
    ByteArrayOutputStream to = new ByteArrayOutputStream(64 + 2 * row.numbers());
    put(to, row.time());
    put(to, row.millis());
    put(to, row.global());
    long[] other = row.other();
    put(to, other == null ? 0 : 1);
    if (other != null) {
      put(to, other);
    }
    put(to, row.rules().size());
    for (int i = 0; i < row.rules().size(); i++) {
      put(to, numberOf.applyAsInt(row.rules().get(i)));
      put(to, row.at(i));
    }
    return to.toByteArray();
  }

  private static void put(ByteArrayOutputStream to, long[] values) {
    for (long value : values) {
      put(to, value);
    }
  }

  private static void put(ByteArrayOutputStream to, long value) {
    long left = value + 1;
    while (left > LOW_BITS || left < 0) {
      to.write((int) (left & LOW_BITS) | MORE);
      left >>>= 7;
    }
    to.write((int) left);
  }

  /**
   * Returns the row that bytes stand for.
   *
   * @throws IllegalArgumentException if they are not a row
   */
  static Row decode(byte[] bytes, int from, int to, IntFunction<String> nameOf) {
    Reader in = new Reader(bytes, from, to);
    long time = in.next();
    long millis = in.next();
    long[] global = in.next(Series.GLOBAL.size());
    long[] other = in.next() == 0 ? null : in.next(Series.RULE.size());
    int size = (int) Math.min(Integer.MAX_VALUE, in.next());
    if (size < 0 || size > Series.MAX_RULES) {
      throw new IllegalArgumentException("row: " + size + " rules (expected: 0..200)");
    }
    List<String> rules = new ArrayList<>(size);
    long[] counts = new long[size * Series.RULE.size()];
    for (int i = 0; i < size; i++) {
      rules.add(nameOf.apply((int) in.next()));
      System.arraycopy(
          in.next(Series.RULE.size()), 0, counts, i * Series.RULE.size(), Series.RULE.size());
    }
    return new Row(time, millis, global, rules, counts, other);
  }

  private static final class Reader {
    private final byte[] bytes;
    private final int end;
    private int at;

    Reader(byte[] bytes, int from, int end) {
      this.bytes = bytes;
      this.at = from;
      this.end = end;
    }

    long next() {
      long value = 0;
      for (int shift = 0; shift < Long.SIZE; shift += 7) {
        if (at == end) {
          throw new IllegalArgumentException("row: cut off (expected: more bytes)");
        }
        byte next = bytes[at++];
        value |= (long) (next & LOW_BITS) << shift;
        if (next >= 0) {
          return value - 1;
        }
      }
      throw new IllegalArgumentException("row: a number of more than 64 bits (expected: fewer)");
    }

    long[] next(int size) {
      long[] values = new long[size];
      for (int i = 0; i < size; i++) {
        values[i] = next();
      }
      return values;
    }
  }
}
