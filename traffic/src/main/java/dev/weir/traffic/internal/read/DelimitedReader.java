package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A reader of values between separators under a header: CSV as in RFC 4180, and TSV, in which
 * nothing is quoted.
 *
 * <p>A record must have as many columns as the header: with one more or less, it would be unclear
 * which value belongs to which column. A quote that is never closed costs one line, not the rest of
 * the file: the reader goes back to the line after it.
 */
final class DelimitedReader implements RecordReader {
  /*
   * Why is CSV read by hand, and not by a library? A library reads a quote that is never closed as
   * a value as long as the rest of the file; here it costs only its own line, and the longest
   * record bounds the memory. The values are slices of the input's bytes: no text is made of
   * columns that no rule needs.
   */

  private final Lines lines;
  private final byte separator;
  private final boolean quotes;
  private final List<String> columns;

  /** The slot of each column, -1 if not wanted. */
  private int[] slots;

  /**
   * The places where the values of the columns start, counted from the record's start, because the
   * record may move.
   */
  private int[] from;

  private int[] to;

  /** True if the value has doubled quotes. */
  private boolean[] doubled;

  private int count;

  /** The most lines over which a search for a closing quote may be repeated from each of them. */
  private static final int FAR = 64;

  /**
   * The line up to which each record is one line: a search for a closing quote over these lines has
   * failed already, and repeating it from each of them would take quadratic time.
   */
  private long singleUntilLine;

  private DelimitedReader(Lines lines, char separator, boolean quotes)
      throws IOException, TrafficException {
    this.lines = lines;
    this.separator = (byte) separator;
    this.quotes = quotes;
    slots = new int[0];
    from = new int[16];
    to = new int[16];
    doubled = new boolean[16];
    columns = header();
    slots = new int[columns.size()];
    Arrays.fill(slots, -1);
  }

  static DelimitedReader csv(Lines lines) throws IOException, TrafficException {
    return new DelimitedReader(lines, ',', true);
  }

  static DelimitedReader tsv(Lines lines) throws IOException, TrafficException {
    return new DelimitedReader(lines, '\t', false);
  }

  private List<String> header() throws IOException, TrafficException {
    try {
      if (!read()) {
        throw new TrafficException("input: empty (expected: a header with the columns' names)");
      }
    } catch (UnreadableException e) {
      throw new TrafficException(
          "input: header in line " + lines.line() + " cannot be read: " + e.reason());
    }
    List<String> names = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] value = value(i);
      names.add(new String(value, StandardCharsets.UTF_8).strip());
    }
    return List.copyOf(names);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void select(List<String> wanted) throws TrafficException {
    for (int slot = 0; slot < wanted.size(); slot++) {
      String name = wanted.get(slot);
      int column = columns.indexOf(name);
      if (column != columns.lastIndexOf(name)) {
        throw new TrafficException(
            "column " + ShownText.quoted(name) + ": several (expected: once in the header)");
      }
      slots[column] = slot;
    }
  }

  @Override
  public long line() {
    return lines.line();
  }

  @Override
  public boolean next(RecordValues values) throws IOException, UnreadableException {
    if (!read()) {
      return false;
    }
    if (count != columns.size()) {
      int found = count;
      goBack();
      throw new UnreadableException(
          found + (found == 1 ? " column" : " columns") + " (expected: " + columns.size() + ")");
    }
    for (int i = 0; i < count; i++) {
      if (slots[i] >= 0) {
        if (doubled[i]) {
          byte[] value = value(i);
          values.set(slots[i], value, 0, value.length);
        } else {
          values.set(slots[i], lines.data(), lines.from() + from[i], lines.from() + to[i]);
        }
      }
    }
    return true;
  }

  /** Goes back to the end of the record's first line, if it has more than one. */
  private void goBack() {
    if (lines.lastLine() - lines.line() > FAR) {
      singleUntilLine = lines.lastLine();
    }
    lines.shrink();
  }

  private boolean read() throws IOException, UnreadableException {
    do {
      if (!lines.next()) {
        return false;
      }
    } while (lines.blank());
    count = 0;
    if (quotes) {
      cutQuoted();
    } else {
      cut();
    }
    return true;
  }

  private void cut() {
    byte[] data = lines.data();
    int start = lines.from();
    int end = lines.to();
    int valueStart = start;
    for (int at = start; at < end; at++) {
      if (data[at] == separator) {
        add(valueStart - start, at - start, false);
        valueStart = at + 1;
      }
    }
    add(valueStart - start, end - start, false);
  }

  private void cutQuoted() throws IOException, UnreadableException {
    int at = 0;
    while (true) {
      int length = lines.to() - lines.from();
      if (at < length && lines.data()[lines.from() + at] == '"') {
        at = quoted(at + 1);
      } else {
        at = unquoted(at);
      }
      length = lines.to() - lines.from();
      if (at >= length) {
        return;
      }
      at++; // At the separator. There is a value behind it, even if it is empty.
    }
  }

  private int unquoted(int valueStart) {
    byte[] data = lines.data();
    int start = lines.from();
    int end = lines.to();
    int at = start + valueStart;
    while (at < end && data[at] != separator) {
      at++;
    }
    add(valueStart, at - start, false);
    return at - start;
  }

  /**
   * Reads a value up to its closing quote, over as many lines as it has. Returns the place behind
   * it.
   */
  private int quoted(int valueStart) throws IOException, UnreadableException {
    boolean twice = false;
    int at = valueStart;
    while (true) {
      byte[] data = lines.data();
      int start = lines.from();
      int length = lines.to() - start;
      while (at < length && data[start + at] != '"') {
        at++;
      }
      if (at >= length) {
        at = nextLine();
      } else if (at + 1 < length && data[start + at + 1] == '"') {
        twice = true;
        at += 2;
      } else {
        add(valueStart, at, twice);
        at++;
        if (at < length && data[start + at] != separator) {
          goBack();
          throw new UnreadableException("text behind a closing quote");
        }
        return at;
      }
    }
  }

  /** Joins the next line to the record. Returns the place where the value continues. */
  private int nextLine() throws IOException, UnreadableException {
    // The line end may have been two bytes, which belong to the value.
    int length = lines.to() - lines.from();
    if (lines.line() <= singleUntilLine || !lines.extend()) {
      goBack();
      throw new UnreadableException("no closing quote");
    }
    return length;
  }

  private void add(int start, int end, boolean twice) {
    if (count == from.length) {
      from = Arrays.copyOf(from, 2 * count);
      to = Arrays.copyOf(to, 2 * count);
      doubled = Arrays.copyOf(doubled, 2 * count);
    }
    from[count] = start;
    to[count] = end;
    doubled[count] = twice;
    count++;
  }

  private byte[] value(int column) {
    byte[] data = lines.data();
    int start = lines.from() + from[column];
    int end = lines.from() + to[column];
    byte[] plain = new byte[end - start];
    int length = 0;
    for (int at = start; at < end; at++) {
      plain[length++] = data[at];
      if (doubled[column] && data[at] == '"') {
        at++;
      }
    }
    return Arrays.copyOf(plain, length);
  }
}
