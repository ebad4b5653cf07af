package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A reader of W3C's extended log file format: {@code #Fields:} names the columns, and values stand
 * between spaces or tabs. A further {@code #Fields:} line changes the columns from there on, as IIS
 * does when it starts anew. A record without one of the earlier columns is unreadable if that
 * column is required. Date and time of day, two columns, become the column {@code time}.
 *
 * @see <a href="https://www.w3.org/TR/WD-logfile.html">Extended Log File Format</a>
 */
final class W3cReader implements RecordReader {
  static final String TIME = "time";
  private static final String DATE = "date";
  private static final byte[] NOTHING = {};
  private static final byte[] FIELDS = "#Fields:".getBytes(StandardCharsets.US_ASCII);

  private final Lines lines;
  private final List<String> columns;
  private List<String> wanted = List.of();
  private Set<String> required = Set.of();

  /** The columns of the following lines. */
  private List<String> now;

  /** The slot of each column of the following lines; -1 if it is not wanted. */
  private int[] slots = new int[0];

  /** The slots of the wanted columns that the following lines do not have. */
  private int[] absent = new int[0];

  private int date = -1;
  private int timeOfDay = -1;
  private int timeSlot = -1;

  /** The reason why the following lines cannot be read; empty if they can. */
  private String unreadable = "";

  private int[] from = new int[32];
  private int[] to = new int[32];
  private byte[] instant = new byte[32];

  W3cReader(Lines lines) throws TrafficException {
    this.lines = lines;
    columns = names(lines.head());
    now = columns;
  }

  private static List<String> names(byte[] head) throws TrafficException {
    int start = 0;
    while (start < head.length) {
      int end = start;
      while (end < head.length && head[end] != '\n') {
        end++;
      }
      if (isFields(head, start, end)) {
        List<String> names = names(head, start, end);
        if (!names.contains(DATE) || !names.contains(TIME)) {
          throw new TrafficException(
              "time: #Fields has no "
                  + (names.contains(DATE) ? TIME : DATE)
                  + " (expected: the columns date and time)");
        }
        return names;
      }
      start = end + 1;
    }
    throw new TrafficException("input: no line #Fields: (expected: one before the first record)");
  }

  private static List<String> names(byte[] data, int start, int end) {
    String text =
        new String(
            data, start + FIELDS.length, end - start - FIELDS.length, StandardCharsets.UTF_8);
    return List.of(text.strip().split("\\s+", -1));
  }

  static boolean isFields(byte[] data, int start, int end) {
    return end - start > FIELDS.length
        && Arrays.equals(data, start, start + FIELDS.length, FIELDS, 0, FIELDS.length);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void select(List<String> wanted) throws TrafficException {
    for (String name : wanted) {
      String column = absentOf(name);
      if (columns.contains(column)) {
        throw new TrafficException(
            "column " + ShownText.quoted(column) + ": several (expected: once in #Fields)");
      }
    }
    this.wanted = List.copyOf(wanted);
    required = Set.copyOf(wanted);
    place();
  }

  @Override
  public void require(Set<String> columns) {
    required = Set.copyOf(columns);
    place();
  }

  /** Finds the wanted columns among those of the following lines. */
  private void place() {
    slots = now.stream().mapToInt(name -> isOnce(name) ? wanted.indexOf(name) : -1).toArray();
    absent =
        IntStream.range(0, wanted.size())
            .filter(slot -> !absentOf(wanted.get(slot)).isEmpty())
            .toArray();
    date = now.indexOf(DATE);
    timeOfDay = now.indexOf(TIME);
    if (timeOfDay >= 0) {
      slots[timeOfDay] = -1; // It is joined with the date.
    }
    timeSlot = absentOf(TIME).isEmpty() ? wanted.indexOf(TIME) : -1;
    unreadable =
        IntStream.of(absent)
            .mapToObj(wanted::get)
            .filter(required::contains)
            .map(this::reason)
            .findFirst()
            .orElse("");
  }

  private boolean isOnce(String column) {
    return Collections.frequency(now, column) == 1;
  }

  /**
   * Returns the column without which a wanted one cannot be read from the following lines; empty if
   * it can be read.
   */
  private String absentOf(String wantedColumn) {
    if (wantedColumn.equals(TIME) && !isOnce(DATE)) {
      return DATE;
    }
    return isOnce(wantedColumn) ? "" : wantedColumn;
  }

  private String reason(String wantedColumn) {
    String column = absentOf(wantedColumn);
    return "column "
        + ShownText.quoted(column)
        + (now.contains(column) ? ": several in" : ": not in")
        + " the last #Fields before this line";
  }

  @Override
  public long line() {
    return lines.line();
  }

  @Override
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    while (true) {
      if (!lines.next()) {
        return false;
      }
      if (lines.blank()) {
        continue;
      }
      if (lines.data()[lines.from()] != '#') {
        record(values);
        return true;
      }
      if (isFields(lines.data(), lines.from(), lines.to())) {
        now = names(lines.data(), lines.from(), lines.to());
        place();
      }
    }
  }

  private void record(RecordValues values) throws UnreadableException {
    if (!unreadable.isEmpty()) {
      throw new UnreadableException(unreadable);
    }
    byte[] data = lines.data();
    int count = cut(data, lines.from(), lines.to());
    if (count != slots.length) {
      throw new UnreadableException(
          count + (count == 1 ? " column" : " columns") + " (expected: " + slots.length + ")");
    }
    for (int i = 0; i < count; i++) {
      if (slots[i] >= 0) {
        values.set(slots[i], data, from[i], to[i]);
      }
    }
    for (int slot : absent) {
      values.set(slot, NOTHING, 0, 0);
    }
    if (timeSlot >= 0) {
      instant(data, values);
    }
  }

  private void instant(byte[] data, RecordValues values) {
    int dateLength = to[date] - from[date];
    int timeLength = to[timeOfDay] - from[timeOfDay];
    int length = dateLength + 1 + timeLength;
    if (instant.length < length) {
      instant = new byte[length];
    }
    System.arraycopy(data, from[date], instant, 0, dateLength);
    instant[dateLength] = ' ';
    System.arraycopy(data, from[timeOfDay], instant, dateLength + 1, timeLength);
    values.set(timeSlot, instant, 0, length);
  }

  /**
   * Splits a line at tabs if there are any, else at spaces, but not within quotes. Returns the
   * number of values.
   */
  private int cut(byte[] data, int start, int end) {
    byte separator = ' ';
    for (int at = start; at < end && separator == ' '; at++) {
      separator = data[at] == '\t' ? (byte) '\t' : separator;
    }
    int count = 0;
    int valueFrom = start;
    boolean quoted = false;
    for (int at = start; at <= end; at++) {
      if (at < end && data[at] == '"' && (quoted || at == valueFrom)) {
        quoted = !quoted;
      }
      if (at == end || (data[at] == separator && !quoted)) {
        if (count == from.length) {
          from = Arrays.copyOf(from, 2 * count);
          to = Arrays.copyOf(to, 2 * count);
        }
        boolean quotes = at - valueFrom >= 2 && data[valueFrom] == '"' && data[at - 1] == '"';
        from[count] = quotes ? valueFrom + 1 : valueFrom;
        to[count++] = quotes ? at - 1 : at;
        valueFrom = at + 1;
      }
    }
    return count;
  }
}
