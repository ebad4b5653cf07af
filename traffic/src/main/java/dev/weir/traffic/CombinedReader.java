package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Reads the access logs of Apache and nginx: combined, common, and those with more behind.
 *
 * <pre>ip ident user [time] "method path?query protocol" status bytes "referer" "agent"</pre>
 *
 * <p>A line is read from the left as far as the wanted columns go, and no further: a line that was
 * cut off behind them still counts. A line may stand in quotes as a whole. With virtual hosts, the
 * line begins with the host's name.
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
  private static final int VHOST = 13;

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

  /** Those of a log with virtual hosts. */
  static final List<String> VHOST_COLUMNS = withHost();

  /** What a log writes where there is nothing. */
  private static final byte[] NOTHING = {'-'};

  private static final byte[] ZERO = {'0'};

  private final Lines lines;
  private final List<String> columns;
  private final boolean vhost;
  private final RequestLine request = new RequestLine();
  private final int[] slots = new int[VHOST + 1];

  private boolean refererRequired = true;
  private boolean agentRequired = true;

  /** The rightmost column that is wanted. */
  private int last = IP;

  /** Where the columns of the line are, in the line's data. */
  private final int[] from = new int[VHOST + 1];

  private final int[] to = new int[VHOST + 1];

  /** Returns a reader of lines that begin with the client's address. */
  CombinedReader(Lines lines) {
    this(lines, false);
  }

  private CombinedReader(Lines lines, boolean vhost) {
    this.lines = lines;
    this.vhost = vhost;
    columns = vhost ? VHOST_COLUMNS : COLUMNS;
    Arrays.fill(slots, -1);
  }

  /** Returns a reader of lines that begin with the name of the virtual host. */
  static CombinedReader vhost(Lines lines) {
    return new CombinedReader(lines, true);
  }

  private static List<String> withHost() {
    List<String> all = new ArrayList<>(COLUMNS);
    all.add("vhost");
    return List.copyOf(all);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void want(List<String> columns) {
    for (int slot = 0; slot < columns.size(); slot++) {
      int column = this.columns.indexOf(columns.get(slot));
      slots[column] = slot;
      last = Math.max(last, column == VHOST ? IP : column);
    }
  }

  /** Lines of the common format end before the referer: nothing is there. */
  @Override
  public void require(Set<String> required) {
    refererRequired = required.contains("referer");
    agentRequired = required.contains("agent");
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
    byte[] data = lines.data();
    int start = lines.from();
    int end = lines.to();
    if (data[start] == '"') {
      if (end - start < 2 || data[end - 1] != '"') {
        throw new Unreadable("line: begins with a quote and does not end with one");
      }
      data = Escapes.unwrapped(data, start, end);
      start = 0;
      end = data.length;
    }
    find(data, start, end);
    for (int column = 0; column <= last; column++) {
      if (slots[column] >= 0) {
        fill(fields, column, data);
      }
    }
    if (slots[VHOST] >= 0) {
      fill(fields, VHOST, data);
    }
    return true;
  }

  /** Finds where the columns are, up to the last that is wanted. */
  private void find(byte[] data, int start, int end) throws Unreadable {
    int at = vhost ? token(data, start, end, VHOST) : start;
    at = token(data, at, end, IP);
    if (to[IP] == from[IP]) {
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
      if (at > end) {
        throw new Unreadable("status: the line ends in it");
      }
    }
    if (last >= BYTES) {
      at = token(data, at, end, BYTES);
    }
    if (last >= REFERER) {
      boolean agent = agentRequired && slots[AGENT] >= 0;
      boolean referer = refererRequired && slots[REFERER] >= 0;
      at = optional(data, at, end, REFERER, referer || agent);
    }
    if (last >= AGENT) {
      optional(data, at, end, AGENT, agentRequired && slots[AGENT] >= 0);
    }
  }

  private boolean wantsRequestParts() {
    return slots[METHOD] >= 0 || slots[PATH] >= 0 || slots[QUERY] >= 0 || slots[PROTOCOL] >= 0;
  }

  /** Takes what is before the next space. Returns what is behind it. */
  private int token(byte[] data, int start, int end, int column) throws Unreadable {
    if (start > end || (start == end && column != IP)) {
      throw new Unreadable(columns.get(column) + ": the line ends before it");
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

  private int optional(byte[] data, int start, int end, int column, boolean required)
      throws Unreadable {
    if (start < end || required) {
      return quoted(data, start, end, column);
    }
    from[column] = end;
    to[column] = end;
    return end;
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

  private void split(byte[] data) {
    for (int column = METHOD; column <= PROTOCOL; column++) {
      from[column] = -1;
    }
    if (!request.split(data, from[REQUEST], to[REQUEST])) {
      return;
    }
    from[METHOD] = request.methodFrom();
    to[METHOD] = request.methodTo();
    int targetTo = request.targetTo();
    int question = RequestLine.question(data, request.targetFrom(), targetTo);
    from[PATH] = request.targetFrom();
    to[PATH] = question;
    from[QUERY] = Math.min(question + 1, targetTo);
    to[QUERY] = targetTo;
    from[PROTOCOL] = request.protocolFrom();
    to[PROTOCOL] = request.end();
  }

  private void fill(RecordFields fields, int column, byte[] data) {
    int slot = slots[column];
    int start = from[column];
    int end = to[column];
    if (column >= METHOD && column <= PROTOCOL && start < 0) {
      fields.set(slot, NOTHING, 0, column == QUERY ? 0 : 1);
    } else if (column == BYTES && end - start == 1 && data[start] == '-') {
      fields.set(slot, ZERO, 0, 1); // Apache's way to write it.
    } else if (Escapes.any(data, start, end)) {
      byte[] plain = Escapes.undone(data, start, end);
      fields.set(slot, plain, 0, plain.length);
    } else {
      fields.set(slot, data, start, end);
    }
  }
}
