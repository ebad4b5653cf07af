package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * A reader of the access logs of Apache and nginx: combined, common, and those with more values at
 * the end.
 *
 * <pre>ip ident user [time] "method path?query protocol" status bytes "referer" "agent" "forwarded"
 * </pre>
 *
 * <p>A line is read from the left as far as the wanted columns go, and no further: a line that was
 * cut off behind them still counts. The whole line may stand in quotes. With virtual hosts, the
 * line begins with the host's name.
 */
final class CombinedReader implements RecordReader {
  /*
   * Why is the line read by hand, and not by regular expressions or a library? The values are
   * slices of the input's bytes: no text is made of columns that no rule needs, and no line can
   * make a match backtrack. A line with one bad quote is lost alone, and memory is bounded by the
   * longest record.
   *
   * What do other servers write that call this format their own? The client may stand in quotes,
   * with a port, or as the list of a header, with a space behind each comma. There may be one word
   * behind it, or none. A user's name is a client's own text and may have brackets in it, so the
   * time is the last bracket before the first quote; nothing behind a quote is a time. The target
   * may be a whole URL. Only text in quotes is a referer or an agent, or, behind these, the list of
   * addresses that nginx's own format "main" has there.
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
  private static final int HOST = 14;
  private static final int PROXIES = 15;
  private static final int FORWARDED = 16;

  /** The columns of the format. */
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

  /** The columns by their numbers, with those that only some logs have. */
  private static final List<String> NAMES = with(COLUMNS, "vhost", "host", "proxies", "forwarded");

  private static final List<String> PLAIN_COLUMNS = with(COLUMNS, "host", "proxies", "forwarded");
  private static final List<String> VHOST_COLUMNS = with(COLUMNS, "vhost", "host", "forwarded");

  /** The text that a log writes for an absent value. */
  private static final byte[] NOTHING = {'-'};

  private static final byte[] ZERO = {'0'};

  /** The place of a column that the line does not have. */
  private static final int NOWHERE = -1;

  private final Lines lines;
  private final List<String> columns;
  private final boolean vhost;
  private final RequestLine request = new RequestLine();
  private final int[] slots = new int[NAMES.size()];

  /**
   * The rightmost wanted column; {@code needed} is the rightmost column that a record must have.
   */
  private int last = IP;

  private int needed = IP;

  /** The places where the columns of the line start, in the line's data. */
  private final int[] from = new int[NAMES.size()];

  private final int[] to = new int[NAMES.size()];

  /** Returns a reader of lines that begin with the client's address. */
  CombinedReader(Lines lines) {
    this(lines, false);
  }

  private CombinedReader(Lines lines, boolean vhost) {
    this.lines = lines;
    this.vhost = vhost;
    columns = vhost ? VHOST_COLUMNS : PLAIN_COLUMNS;
    Arrays.fill(slots, -1);
  }

  /** Returns a reader of lines that begin with the name of the virtual host. */
  static CombinedReader vhost(Lines lines) {
    return new CombinedReader(lines, true);
  }

  private static List<String> with(List<String> columns, String... more) {
    List<String> all = new ArrayList<>(columns);
    all.addAll(List.of(more));
    return List.copyOf(all);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void select(List<String> columns) {
    for (int slot = 0; slot < columns.size(); slot++) {
      int column = NAMES.indexOf(columns.get(slot));
      slots[column] = slot;
      last = Math.max(last, place(column));
    }
    needed = last;
  }

  /** Returns the column up to which a line has to be read to find this one. */
  private static int place(int column) {
    return switch (column) {
      case VHOST, PROXIES -> IP;
      case HOST -> PATH;
      case FORWARDED -> AGENT;
      default -> column;
    };
  }

  /**
   * Sets the columns that a record must have: lines of the common format end before the referer.
   */
  @Override
  public void require(Set<String> required) {
    needed = IP;
    for (String column : required) {
      needed = Math.max(needed, place(NAMES.indexOf(column)));
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
    byte[] data = lines.data();
    int start = lines.from();
    int end = lines.to();
    if (data[start] == '"' && addressQuote(data, start, end) < 0) {
      if (end - start < 2 || data[end - 1] != '"') {
        throw new UnreadableException("line: begins with a quote and does not end with one");
      }
      data = Escapes.unwrapped(data, start, end);
      start = 0;
      end = data.length;
    }
    find(data, start, end);
    for (int column = 0; column <= last; column++) {
      if (slots[column] >= 0) {
        fill(values, column, data);
      }
    }
    for (int column = VHOST; column < slots.length; column++) {
      if (slots[column] >= 0) {
        fill(values, column, data);
      }
    }
    return true;
  }

  /**
   * Returns the place of the quote behind the client, if the client stands in quotes; otherwise -1:
   * a line in quotes as a whole has spaces before its next quote.
   */
  private static int addressQuote(byte[] data, int start, int end) {
    int at = start + 1;
    while (at < end && data[at] != '"' && data[at] != ' ') {
      at++;
    }
    return at > start + 1 && at + 1 < end && data[at] == '"' && data[at + 1] == ' ' ? at : -1;
  }

  /** Finds the places of the columns, up to the last wanted one. */
  private void find(byte[] data, int start, int end) throws UnreadableException {
    int at = start;
    if (vhost) {
      at = token(data, start, end, VHOST);
      if (to[VHOST] > from[VHOST] && data[to[VHOST] - 1] == ',') {
        throw new UnreadableException("vhost: a list of addresses (expected: a host's name)");
      }
      requireHost(data, from[VHOST], to[VHOST]);
    }
    at = client(data, at, end);
    at = words(data, at, end);
    int found = TIME;
    try {
      if (last >= REQUEST) {
        at = quoted(data, at, end, REQUEST);
        if (needsRequestParts()) {
          split(data);
        }
        found = PROTOCOL;
      }
      if (last >= STATUS) {
        at = token(data, at, end, STATUS);
        if (at > end) {
          throw new UnreadableException("status: the line ends in it");
        }
        found = STATUS;
      }
      if (last >= BYTES) {
        at = token(data, at, end, BYTES);
        found = BYTES;
      }
      if (last >= REFERER) {
        at = quoted(data, at, end, REFERER);
        found = REFERER;
      }
      if (last >= AGENT) {
        at = quoted(data, at, end, AGENT);
        found = AGENT;
      }
      from[FORWARDED] = NOWHERE;
      if (slots[FORWARDED] >= 0 && at < end && data[at] == '"') {
        quoted(data, at, end, FORWARDED);
      }
    } catch (UnreadableException e) {
      if (needed > found) {
        throw e;
      }
      for (int column = found + 1; column <= last; column++) {
        from[column] = NOWHERE;
      }
      from[FORWARDED] = NOWHERE;
      from[HOST] = found < PROTOCOL ? NOWHERE : from[HOST];
    }
  }

  /** Refuses a text in brackets that is no address, such as a level before the line. */
  private static void requireHost(byte[] data, int start, int end) throws UnreadableException {
    boolean colon = false;
    for (int at = start + 1; at < end && data[start] == '[' && data[at] != ']'; at++) {
      colon |= data[at] == ':';
      if (data[at] != ':' && data[at] != '.' && Character.digit(data[at], 16) < 0) {
        colon = false;
        break;
      }
    }
    if (start < end && data[start] == '[' && !colon) {
      throw new UnreadableException(
          "vhost: " + ShownText.quoted(data, start, end) + " (expected: a host's name)");
    }
  }

  private boolean needsRequestParts() {
    return slots[METHOD] >= 0
        || slots[PATH] >= 0
        || slots[QUERY] >= 0
        || slots[PROTOCOL] >= 0
        || slots[HOST] >= 0;
  }

  /** Reads the text before the next space as a column. Returns the place behind the space. */
  private int token(byte[] data, int start, int end, int column) throws UnreadableException {
    if (start > end || (start == end && column != IP)) {
      throw new UnreadableException(NAMES.get(column) + ": the line ends before it");
    }
    int at = start;
    while (at < end && data[at] != ' ') {
      at++;
    }
    from[column] = start;
    to[column] = at;
    return at + 1;
  }

  /** Reads the client: an address, one in quotes, or a list with a space behind each comma. */
  private int client(byte[] data, int start, int end) throws UnreadableException {
    int at = token(data, start, end, IP);
    if (to[IP] == from[IP]) {
      throw new UnreadableException("ip: nothing (expected: an address at the line's beginning)");
    }
    from[PROXIES] = NOWHERE;
    if (data[start] == '"') {
      from[IP]++;
      to[IP]--;
    } else if (data[to[IP] - 1] == ',') {
      int first = from[IP];
      from[PROXIES] = at;
      while (to[IP] > from[IP] && data[to[IP] - 1] == ',') {
        at = token(data, at, end, IP);
      }
      from[IP] = first;
      to[PROXIES] = to[IP];
    }
    if (at > end) {
      throw new UnreadableException("ident: the line ends before it");
    }
    return at;
  }

  /** Reads the words before the time, and the time: the last bracket before the first quote. */
  private int words(byte[] data, int start, int end) throws UnreadableException {
    int bracket = -1;
    int at = start;
    for (; at < end; at++) {
      if (data[at] == '[' && data[at - 1] == ' ') {
        bracket = at;
      } else if (data[at] == '"' && ends(data, at, end, bracket >= 0)) {
        break;
      }
    }
    if (bracket < 0) {
      throw new UnreadableException("time: no [ with a space before it");
    }
    names(data, start, bracket - 1);
    if (vhost && from[IDENT] < 0) {
      throw new UnreadableException("user: the time stands in its place");
    }
    return time(data, bracket, at);
  }

  /** Returns whether a quote begins the request rather than being a part of the user's name. */
  private static boolean ends(byte[] data, int at, int end, boolean behindBracket) {
    if (behindBracket) {
      return data[at - 1] != '\\';
    }
    boolean empty = at + 1 < end && data[at + 1] == '"'; // Apache writes an empty name so.
    return data[at - 1] == ' ' && !empty;
  }

  /** Reads ident and user; a server that has neither leaves one or both out. */
  private void names(byte[] data, int start, int end) {
    int space = start;
    while (space < end && data[space] != ' ') {
      space++;
    }
    from[IDENT] = space < end ? start : NOWHERE;
    to[IDENT] = space;
    from[USER] = end <= start ? NOWHERE : space < end ? space + 1 : start;
    to[USER] = end;
  }

  private int time(byte[] data, int bracket, int end) throws UnreadableException {
    for (int at = bracket + 1; at < end; at++) {
      if (data[at] == ']') {
        from[TIME] = bracket + 1;
        to[TIME] = at;
        return at + 2;
      }
    }
    throw new UnreadableException("time: no ] behind it");
  }

  private int quoted(byte[] data, int start, int end, int column) throws UnreadableException {
    if (start >= end) {
      throw new UnreadableException(NAMES.get(column) + ": the line ends before it");
    }
    if (data[start] != '"') {
      throw new UnreadableException(
          NAMES.get(column)
              + ": "
              + ShownText.quoted(data, start, end)
              + " (expected: a text in quotes)");
    }
    for (int at = start + 1; at < end; at++) {
      if (data[at] == '\\') {
        at++;
      } else if (data[at] == '"' && (at + 1 == end || data[at + 1] == ' ')) {
        from[column] = start + 1;
        to[column] = at;
        return at + 2;
      }
    }
    throw new UnreadableException(NAMES.get(column) + ": no closing quote");
  }

  private void split(byte[] data) {
    for (int column = METHOD; column <= PROTOCOL; column++) {
      from[column] = NOWHERE;
    }
    from[HOST] = NOWHERE;
    if (!request.split(data, from[REQUEST], to[REQUEST])) {
      return;
    }
    from[METHOD] = request.methodFrom();
    to[METHOD] = request.methodTo();
    int targetTo = request.targetTo();
    from[PATH] = RequestLine.path(data, request.targetFrom(), targetTo);
    to[PATH] = RequestLine.question(data, from[PATH], targetTo);
    from[QUERY] = Math.min(to[PATH] + 1, targetTo);
    to[QUERY] = targetTo;
    from[PROTOCOL] = request.protocolFrom();
    to[PROTOCOL] = request.end();
    if (from[PATH] > request.targetFrom()) {
      from[HOST] = RequestLine.host(data, request.targetFrom(), from[PATH]);
      to[HOST] = RequestLine.hostEnd(data, from[HOST], from[PATH]);
    }
  }

  private void fill(RecordValues values, int column, byte[] data) {
    int slot = slots[column];
    int start = from[column];
    int end = to[column];
    if (start < 0) {
      boolean empty =
          column == QUERY
              || column == REFERER
              || column == AGENT
              || column == PROXIES
              || column == FORWARDED;
      values.set(slot, NOTHING, 0, empty ? 0 : 1);
    } else if (column == PATH && start == end && from[HOST] >= 0) {
      values.set(slot, RequestLine.ROOT, 0, 1);
    } else if (column == BYTES && end - start == 1 && data[start] == '-') {
      values.set(slot, ZERO, 0, 1); // Apache writes no bytes as a hyphen.
    } else if (Escapes.any(data, start, end)) {
      byte[] plain = Escapes.undone(data, start, end);
      values.set(slot, plain, 0, plain.length);
    } else {
      values.set(slot, data, start, end);
    }
  }
}
