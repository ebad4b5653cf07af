package dev.weir.insight;

import dev.weir.internal.Varint;
import dev.weir.internal.VarintReader;
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
    byte[] number = new byte[Varint.MAX_BYTES];
    to.write(number, 0, Varint.put(number, 0, value + 1));
  }

  /**
   * Returns the row that bytes stand for.
   *
   * @throws IllegalArgumentException if they are not a row
   */
  static Row decode(byte[] bytes, int from, int to, IntFunction<String> nameOf) {
    Reader in = new Reader(new VarintReader(bytes, from, to, "row"));
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

  private record Reader(VarintReader in) {
    long next() {
      return in.next() - 1;
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
