package dev.weir.traffic;

import dev.weir.identity.AddressKey;
import dev.weir.rules.ShownText;
import dev.weir.traffic.Inspection.Column;
import dev.weir.traffic.internal.check.DistinctValues;
import dev.weir.traffic.internal.read.Address;
import dev.weir.traffic.internal.read.RecordValues;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The counts of a column. Not safe for use by several threads. */
final class ColumnUse {
  private static final int EXAMPLES = 3;

  private final DistinctValues distinct = new DistinctValues();
  private final DistinctValues keys = new DistinctValues();
  private final boolean named;
  private final List<String> examples = new ArrayList<>();
  private long empty;
  private long addresses;

  /**
   * @param named true if the column has addresses by its name
   */
  ColumnUse(boolean named) {
    this.named = named;
  }

  void add(RecordValues values, int slot) {
    byte[] data = values.data(slot);
    int from = values.from(slot);
    int to = values.to(slot);
    if (from == to || (to - from == 1 && data[from] == '-')) {
      empty++;
      return;
    }
    boolean unseen = distinct.add(data, from, to);
    if (to - from <= 64) {
      String text = new String(data, from, to - from, StandardCharsets.UTF_8);
      addresses += Address.is(text) ? 1 : 0;
      if (named) {
        String key = AddressKey.USUAL.of(text);
        byte[] bytes = (key == null ? text : key).getBytes(StandardCharsets.UTF_8);
        keys.add(bytes, 0, bytes.length);
      }
    }
    if (unseen && examples.size() < EXAMPLES) {
      examples.add(ShownText.brief(new String(data, from, to - from, StandardCharsets.UTF_8)));
    }
  }

  /**
   * Returns the contents of the column.
   *
   * @param records the number of all records
   */
  Column column(String name, long records) {
    return new Column(
        name,
        distinct.count(),
        distinct.exact(),
        named ? keys.count() : distinct.count(),
        empty,
        2 * addresses > records - empty,
        examples);
  }
}
