package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the access logs of Apache and nginx: combined, common, and those with more behind.
 *
 * <pre>ip ident user [time] "method path?query protocol" status bytes "referer" "agent"</pre>
 *
 * <p>A line is read from the left as far as the wanted columns go, and no further: a line that was
 * cut off behind them still counts.
 */
final class CombinedReader implements RecordReader {
  /*
   * Why by hand, and not by regular expressions or a library? The values are slices of the input's
   * bytes: no text is made of columns that no rule needs, and no line can make a match backtrack. A
   * line with one bad quote is lost alone, and memory is bounded by the longest record.
   */

  private static final int IP = 0;
  private static final int IDENT = 1;
  private static final int USER = 2;
  private static final int TIME = 3;
  private static final int REQUEST = 4;
  private static final int METHOD = 5;
  private static final int PATH = 6;
  private static final int QUERY = 7;
  private static final int PROTOCOL = 8;
  private static final int STATUS = 9;
  private static final int BYTES = 10;
  private static final int REFERER = 11;
  private static final int AGENT = 12;

  static final List<String> COLUMNS =
      List.of(
          "ip",
          "ident",
          "user",
          "time",
          "request",
          "method",
          "path",
          "query",
          "protocol",
          "status",
          "bytes",
          "referer",
          "agent");

  /** What a log writes where there is nothing. */
  private static final byte[] NOTHING = {'-'};

  private static final byte[] ZERO = {'0'};

  private final Lines lines;
  private final int[] slots = new int[COLUMNS.size()];

  /** The rightmost column that is wanted. */
  private int last = IP;

  /** Where the columns of the line are, in the data of {@link #lines}. */
  private final int[] from = new int[COLUMNS.size()];

  private final int[] to = new int[COLUMNS.size()];

  CombinedReader(Lines lines) {
    this.lines = lines;
    Arrays.fill(slots, -1);
  }

  @Override
  public List<String> columns() {
    return COLUMNS;
  }

  @Override
  public void want(List<String> columns) {
    for (int slot = 0; slot < columns.size(); slot++) {
      int column = COLUMNS.indexOf(columns.get(slot));
      slots[column] = slot;
      last = Math.max(last, column);
    }
  }

  @Override
  public long line() {
    return lines.line();
  }

  @Override
  public boolean next(RecordFields fields) throws IOException, Unreadable {
    do {
      if (!lines.next()) {
        return false;
      }
    } while (lines.blank());
    find(lines.data(), lines.from(), lines.to());
    for (int column = 0; column <= last; column++) {
      if (slots[column] >= 0) {
        fill(fields, column);
      }
    }
    return true;
  }

  /** Finds where the columns are, up to the last that is wanted. */
  private void find(byte[] data, int start, int end) throws Unreadable {
    int at = token(data, start, end, IP);
    if (to[IP] == start) {
      throw new Unreadable("ip: nothing (expected: an address at the line's beginning)");
    }
    at = token(data, at, end, IDENT);
    at = user(data, at, end);
    at = time(data, at, end);
    if (last >= REQUEST) {
      at = quoted(data, at, end, REQUEST);
      if (wantsRequestParts()) {
        split(data);
      }
    }
    if (last >= STATUS) {
      at = token(data, at, end, STATUS);
    }
    if (last >= BYTES) {
      at = token(data, at, end, BYTES);
    }
    if (last >= REFERER) {
      at = quoted(data, at, end, REFERER);
    }
    if (last >= AGENT) {
      quoted(data, at, end, AGENT);
    }
  }

  private boolean wantsRequestParts() {
    return slots[METHOD] >= 0 || slots[PATH] >= 0 || slots[QUERY] >= 0 || slots[PROTOCOL] >= 0;
  }

  /** Takes what is before the next space. Returns what is behind it. */
  private int token(byte[] data, int start, int end, int column) throws Unreadable {
    if (start > end || (start == end && column != IP)) {
      throw new Unreadable(COLUMNS.get(column) + ": the line ends before it");
    }
    int at = start;
    while (at < end && data[at] != ' ') {
      at++;
    }
    from[column] = start;
    to[column] = at;
    return at + 1;
  }

  /** Takes what is before the bracket: names have been seen with spaces in them. */
  private int user(byte[] data, int start, int end) throws Unreadable {
    for (int at = start + 1; at < end; at++) {
      if (data[at] == '[' && data[at - 1] == ' ') {
        from[USER] = start;
        to[USER] = at - 1;
        return at;
      }
    }
    throw new Unreadable("time: no [ with a space before it");
  }

  private int time(byte[] data, int bracket, int end) throws Unreadable {
    for (int at = bracket + 1; at < end; at++) {
      if (data[at] == ']') {
        from[TIME] = bracket + 1;
        to[TIME] = at;
        return at + 2;
      }
    }
    throw new Unreadable("time: no ] behind it");
  }

  private int quoted(byte[] data, int start, int end, int column) throws Unreadable {
    if (start >= end) {
      throw new Unreadable(COLUMNS.get(column) + ": the line ends before it");
    }
    if (data[start] != '"') {
      throw new Unreadable(
          COLUMNS.get(column)
              + ": "
              + ShownText.quoted(data, start, end)
              + " (expected: a text in quotes)");
    }
    for (int at = start + 1; at < end; at++) {
      if (data[at] == '\\') {
        at++;
      } else if (data[at] == '"') {
        from[column] = start + 1;
        to[column] = at;
        return at + 2;
      }
    }
    throw new Unreadable(COLUMNS.get(column) + ": no closing quote");
  }

  /**
   * Splits the request line. One that is not of the form {@code METHOD target [protocol]} (a port
   * scan, a TLS handshake on the plain port, a client that said nothing) has no parts.
   */
  private void split(byte[] data) {
    int start = from[REQUEST];
    int end = to[REQUEST];
    int methodEnd = start;
    while (methodEnd < end && data[methodEnd] != ' ') {
      methodEnd++;
    }
    for (int column = METHOD; column <= PROTOCOL; column++) {
      from[column] = -1;
    }
    if (methodEnd == start || methodEnd + 1 >= end) {
      return;
    }
    int space = end - 1;
    while (data[space] != ' ') {
      space--;
    }
    int targetEnd = end;
    if (startsWithHttp(data, space + 1, end)) {
      if (space == methodEnd) {
        return;
      }
      targetEnd = space;
      from[PROTOCOL] = space + 1;
      to[PROTOCOL] = end;
    }
    from[METHOD] = start;
    to[METHOD] = methodEnd;
    int question = methodEnd + 1;
    while (question < targetEnd && data[question] != '?') {
      question++;
    }
    from[PATH] = Math.min(methodEnd + 1, targetEnd);
    to[PATH] = Math.max(from[PATH], question);
    from[QUERY] = Math.min(question + 1, targetEnd);
    to[QUERY] = targetEnd;
  }

  private static boolean startsWithHttp(byte[] data, int start, int end) {
    return end - start >= 5
        && data[start] == 'H'
        && data[start + 1] == 'T'
        && data[start + 2] == 'T'
        && data[start + 3] == 'P'
        && data[start + 4] == '/';
  }

  private void fill(RecordFields fields, int column) {
    int slot = slots[column];
    int start = from[column];
    int end = to[column];
    byte[] data = lines.data();
    if (column >= METHOD && column <= PROTOCOL && start < 0) {
      fields.set(slot, NOTHING, 0, column == QUERY ? 0 : 1);
    } else if (column == BYTES && end - start == 1 && data[start] == '-') {
      fields.set(slot, ZERO, 0, 1); // Apache's way to write it.
    } else if (escaped(data, start, end)) {
      byte[] plain = unescaped(data, start, end);
      fields.set(slot, plain, 0, plain.length);
    } else {
      fields.set(slot, data, start, end);
    }
  }

  private static boolean escaped(byte[] data, int start, int end) {
    for (int i = start; i < end; i++) {
      if (data[i] == '\\') {
        return true;
      }
    }
    return false;
  }

  /** Undoes what servers do to quotes, backslashes and bytes that do not print. */
  private static byte[] unescaped(byte[] data, int start, int end) {
    ByteArrayOutputStream plain = new ByteArrayOutputStream(end - start);
    int at = start;
    while (at < end) {
      byte b = data[at++];
      if (b != '\\' || at == end) {
        plain.write(b);
        continue;
      }
      byte escape = data[at++];
      int known = "\"\\nrtbfv".indexOf(escape);
      if (escape == 'x' && at + 2 <= end && hex(data[at]) >= 0 && hex(data[at + 1]) >= 0) {
        plain.write(16 * hex(data[at]) + hex(data[at + 1]));
        at += 2;
      } else if (known >= 0) {
        plain.write("\"\\\n\r\t\b\f\u000b".getBytes(StandardCharsets.US_ASCII)[known]);
      } else {
        plain.write('\\');
        plain.write(escape);
      }
    }
    return plain.toByteArray();
  }

  private static int hex(byte b) {
    return Character.digit(b, 16);
  }
}
