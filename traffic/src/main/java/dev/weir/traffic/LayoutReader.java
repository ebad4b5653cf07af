package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads lines of values with one space between them, in an order that the format's documentation
 * gives. The order is written as a text with one word for each value:
 *
 * <ul>
 *   <li>{@code name}: the value goes up to the next space; {@code ~name}: the same, with more than
 *       one space before it;
 *   <li>{@code [name]}: it stands in brackets;
 *   <li>{@code "name"}: it stands in quotes, and ends at a quote with a space or the line's end
 *       behind it; {@code 'name'}: the same, and backslashes escape;
 *   <li>{@code *}: what is up to the next quote is left out;
 *   <li>{@code ?}: a line may end here, or anywhere behind it; the values that are missing are
 *       empty.
 * </ul>
 *
 * What is behind the last value is ignored. A line is read as far as the wanted columns go.
 */
final class LayoutReader implements RecordReader {
  /*
   * Why not regular expressions? The values are slices of the input's bytes, no line can make a
   * match backtrack, and an error names the value that is missing.
   */

  private enum Kind {
    WORD,
    PADDED,
    BRACKETS,
    QUOTES,
    ESCAPED,
    SKIP
  }

  private record Piece(Kind kind, String name) {}

  private static final byte[] NOTHING = {};

  private final Lines lines;
  private final boolean anchored;
  private final List<Piece> pieces = new ArrayList<>();
  private final List<String> columns = new ArrayList<>();
  private int firstOptional = Integer.MAX_VALUE;
  private int[] slots;

  /** The last piece that is wanted. */
  private int last;

  private LayoutReader(Lines lines, String layout, boolean anchored) {
    this.lines = lines;
    this.anchored = anchored;
    for (String word : layout.split(" ", -1)) {
      char first = word.charAt(0);
      if (first == '?') {
        firstOptional = pieces.size();
        continue;
      }
      Kind kind =
          switch (first) {
            case '~' -> Kind.PADDED;
            case '[' -> Kind.BRACKETS;
            case '"' -> Kind.QUOTES;
            case '\'' -> Kind.ESCAPED;
            case '*' -> Kind.SKIP;
            default -> Kind.WORD;
          };
      String name = name(word);
      pieces.add(new Piece(kind, name));
      if (kind != Kind.SKIP) {
        columns.add(name);
      }
    }
    slots = new int[pieces.size()];
    Arrays.fill(slots, -1);
  }

  /** Returns a word of the layout without its marks. */
  private static String name(String word) {
    int from = 0;
    int to = word.length();
    while (from < to && "~*[\"'".indexOf(word.charAt(from)) >= 0) {
      from++;
    }
    while (to > from && "]\"'".indexOf(word.charAt(to - 1)) >= 0) {
      to--;
    }
    return word.substring(from, to);
  }

  /** Returns a reader of lines in that order. */
  static LayoutReader of(Lines lines, String layout) {
    return new LayoutReader(lines, layout, false);
  }

  /**
   * Returns a reader of lines whose first values are a word and a time in brackets that begins with
   * a digit, with anything before them, such as what syslog writes.
   */
  static LayoutReader behindSyslog(Lines lines, String layout) {
    return new LayoutReader(lines, layout, true);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void want(List<String> wanted) {
    slots = new int[pieces.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = wanted.indexOf(pieces.get(i).name);
      last = slots[i] >= 0 ? i : last;
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
    byte[] data = lines.data();
    int end = lines.to();
    int at = anchored ? anchor(data, lines.from(), end) : lines.from();
    for (int i = 0; i <= last; i++) {
      if (at >= end) {
        missing(i, fields);
      } else {
        at = piece(i, data, at, end, fields);
      }
    }
    return true;
  }

  private void missing(int piece, RecordFields fields) throws Unreadable {
    if (piece < firstOptional) {
      throw new Unreadable(pieces.get(piece).name + ": the line ends before it");
    }
    if (slots[piece] >= 0) {
      fields.set(slots[piece], NOTHING, 0, 0);
    }
  }

  /** Takes a value. Returns where the next one begins. */
  private int piece(int i, byte[] data, int start, int end, RecordFields fields) throws Unreadable {
    int from = start;
    int to;
    switch (pieces.get(i).kind) {
      case SKIP -> {
        return find(data, start, end, '"');
      }
      case BRACKETS -> {
        open(i, data, start, end, '[');
        from++;
        to = find(data, from, end, ']');
      }
      case QUOTES, ESCAPED -> {
        open(i, data, start, end, '"');
        from++;
        to = closing(data, from, end, pieces.get(i).kind == Kind.ESCAPED);
      }
      case PADDED -> {
        while (from < end && data[from] == ' ') {
          from++;
        }
        to = find(data, from, end, ' ');
      }
      default -> to = find(data, from, end, ' ');
    }
    boolean word = pieces.get(i).kind == Kind.WORD || pieces.get(i).kind == Kind.PADDED;
    if (word ? to == from : to >= end) {
      throw new Unreadable(
          pieces.get(i).name + (word ? ": nothing (expected: a word)" : ": is not closed"));
    }
    if (word && to == end && i + 1 < Math.min(firstOptional, pieces.size())) {
      throw new Unreadable(pieces.get(i).name + ": the line ends in it");
    }
    int slot = slots[i];
    if (slot >= 0 && pieces.get(i).kind == Kind.ESCAPED && Escapes.any(data, from, to)) {
      byte[] plain = Escapes.undone(data, from, to);
      fields.set(slot, plain, 0, plain.length);
    } else if (slot >= 0) {
      fields.set(slot, data, from, to);
    }
    return word ? to + 1 : to + 2;
  }

  private void open(int i, byte[] data, int at, int end, char bracket) throws Unreadable {
    if (data[at] != bracket) {
      throw new Unreadable(
          pieces.get(i).name
              + ": "
              + ShownText.quoted(data, at, end)
              + " (expected: "
              + bracket
              + ")");
    }
  }

  private static int find(byte[] data, int start, int end, char what) {
    int at = start;
    while (at < end && data[at] != what) {
      at++;
    }
    return at;
  }

  private static int closing(byte[] data, int start, int end, boolean escapes) {
    for (int at = start; at < end; at++) {
      if (escapes && data[at] == '\\') {
        at++;
      } else if (data[at] == '"' && (escapes || at + 1 == end || data[at + 1] == ' ')) {
        return at;
      }
    }
    return end;
  }

  private static int anchor(byte[] data, int start, int end) throws Unreadable {
    for (int at = start + 1; at + 2 < end; at++) {
      if (data[at] == '[' && data[at - 1] == ' ' && data[at + 1] >= '0' && data[at + 1] <= '9') {
        int word = at - 1;
        boolean port = false;
        while (word > start && data[word - 1] != ' ') {
          port |= data[--word] == ':';
        }
        if (!port) {
          throw new Unreadable(
              "client: " + ShownText.quoted(data, word, at - 1) + " (expected: address:port)");
        }
        return word;
      }
    }
    throw new Unreadable("time: no [ with a digit behind it");
  }
}
