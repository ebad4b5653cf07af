package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A reader of labelled values separated by tabs: {@code time:...<tab>host:...}. The columns are the
 * labels of the first lines.
 *
 * @see <a href="http://ltsv.org">Labeled Tab-separated Values</a>
 */
final class LtsvReader implements RecordReader {
  /** The number of lines at the beginning of the input from which the columns are collected. */
  private static final int LOOKED_AT = 1000;

  private static final byte[] NOTHING = {};

  private final Lines lines;
  private final List<String> columns;
  private List<String> wanted = List.of();
  private byte[][] labels = new byte[0][];
  private boolean[] found = new boolean[0];
  private boolean[] optional = new boolean[0];

  LtsvReader(Lines lines) {
    this.lines = lines;
    Set<String> names = new LinkedHashSet<>();
    new String(lines.head(), StandardCharsets.UTF_8)
        .lines()
        .limit(LOOKED_AT)
        .forEach(line -> names.addAll(labels(line)));
    columns = List.copyOf(names);
  }

  /** Returns the labels of a line's values; none if it has a value without one. */
  static List<String> labels(String line) {
    String[] cells = line.split("\t", -1);
    Set<String> labels = new LinkedHashSet<>();
    for (String cell : cells) {
      int colon = cell.indexOf(':');
      if (colon <= 0 || !isLabel(cell.substring(0, colon))) {
        return List.of();
      }
      labels.add(cell.substring(0, colon));
    }
    return cells.length < 2 ? List.of() : List.copyOf(labels);
  }

  private static boolean isLabel(String text) {
    return text.chars()
        .allMatch(
            c ->
                (c >= 'a' && c <= 'z')
                    || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9')
                    || c == '_'
                    || c == '.'
                    || c == '-');
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void select(List<String> columns) {
    wanted = List.copyOf(columns);
    labels = new byte[wanted.size()][];
    for (int slot = 0; slot < labels.length; slot++) {
      labels[slot] = (wanted.get(slot) + ":").getBytes(StandardCharsets.UTF_8);
    }
    found = new boolean[labels.length];
    optional = new boolean[labels.length];
  }

  @Override
  public void require(Set<String> columns) {
    for (int slot = 0; slot < optional.length; slot++) {
      optional[slot] = !columns.contains(wanted.get(slot));
    }
  }

  @Override
  public long line() {
    return lines.line();
  }

  @Override
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    do {
      if (!lines.next()) {
        return false;
      }
    } while (lines.blank());
    Arrays.fill(found, false);
    byte[] data = lines.data();
    int end = lines.to();
    int from = lines.from();
    while (from <= end) {
      int to = from;
      while (to < end && data[to] != '\t') {
        to++;
      }
      value(data, from, to, values);
      from = to + 1;
    }
    for (int slot = 0; slot < found.length; slot++) {
      if (!found[slot] && !optional[slot]) {
        throw new UnreadableException("column " + ShownText.quoted(wanted.get(slot)) + ": missing");
      }
      if (!found[slot]) {
        values.set(slot, NOTHING, 0, 0);
      }
    }
    return true;
  }

  private void value(byte[] data, int from, int to, RecordValues values) {
    for (int slot = 0; slot < labels.length; slot++) {
      int behind = from + labels[slot].length;
      if (behind <= to && Arrays.equals(data, from, behind, labels[slot], 0, labels[slot].length)) {
        values.set(slot, data, behind, to);
        found[slot] = true;
        return;
      }
    }
  }
}
