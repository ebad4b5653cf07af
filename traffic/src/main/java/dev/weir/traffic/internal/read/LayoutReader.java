package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.read.Layout.Kind;
import dev.weir.traffic.internal.read.Layout.Piece;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A reader of lines of values with one space between them, in the order of a {@link Layout}. A line
 * is read as far as the wanted columns go.
 */
final class LayoutReader implements RecordReader {
  /*
   * Why not regular expressions? The values are slices of the input's bytes, no line can make a
   * match backtrack, and an error names the value that is missing.
   */

  private static final byte[] NOTHING = {};

  /**
   * The length in bytes from which on a line may have been cut: writers that bound lines do it at
   * 1,024 bytes or more.
   */
  private static final int LONG = 1_000;

  private final Lines lines;
  private final boolean anchored;
  private final List<Piece> pieces;
  private final List<String> columns;
  private final int firstOptional;
  private int[] slots;

  /** The last piece that is wanted; {@code needed} is the last that a record must have. */
  private int last;

  private int needed;

  /** The number of lines that were cut off in their last value. */
  private long cut;

  private LayoutReader(Lines lines, Layout layout, boolean anchored) {
    this.lines = lines;
    this.anchored = anchored;
    pieces = layout.pieces();
    columns = pieces.stream().map(Piece::name).filter(name -> !name.isEmpty()).toList();
    firstOptional = layout.firstOptional();
    slots = new int[pieces.size()];
    Arrays.fill(slots, -1);
  }

  /** Returns a reader of lines in that order. */
  static LayoutReader of(Lines lines, Layout layout) {
    return new LayoutReader(lines, layout, false);
  }

  /**
   * Returns a reader of lines whose first values are a word and a time in brackets that begins with
   * a digit, with anything before them, such as the header of syslog.
   */
  static LayoutReader behindSyslog(Lines lines, Layout layout) {
    return new LayoutReader(lines, layout, true);
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public void select(List<String> wanted) {
    slots = new int[pieces.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = pieces.get(i).name().isEmpty() ? -1 : wanted.indexOf(pieces.get(i).name());
      last = slots[i] >= 0 ? i : last;
    }
    needed = last;
  }

  @Override
  public void require(Set<String> required) {
    needed = -1;
    for (int i = 0; i < slots.length; i++) {
      needed = slots[i] >= 0 && required.contains(pieces.get(i).name()) ? i : needed;
    }
  }

  @Override
  public List<String> notes() {
    return cut == 0
        ? List.of()
        : List.of(
            String.format(
                Locale.ROOT,
                "%s: cut off by the writer in %,d %s; what is left of it is read",
                pieces.get(pieces.size() - 1).name(),
                cut,
                cut == 1 ? "line" : "lines"));
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
    int end = lines.to();
    int at = anchored ? anchor(data, lines.from(), end) : lines.from();
    for (int i = 0; i <= last; i++) {
      if (at >= end && (i >= firstOptional || i > needed)) {
        missing(i, values);
      } else if (at >= end) {
        throw new UnreadableException(pieces.get(i).name() + ": the line ends before it");
      } else if (i <= needed) {
        at = piece(i, data, at, end, values);
      } else {
        at = behindNeeded(i, data, at, end, values);
      }
    }
    return true;
  }

  private void missing(int piece, RecordValues values) {
    if (slots[piece] >= 0) {
      values.set(slots[piece], NOTHING, 0, 0);
    }
  }

  /**
   * Reads a value that no record must have; if it cannot be read, the values behind it cannot
   * either.
   */
  private int behindNeeded(int i, byte[] data, int start, int end, RecordValues values) {
    try {
      return piece(i, data, start, end, values);
    } catch (UnreadableException e) {
      missing(i, values);
      return end;
    }
  }

  /** Reads a value. Returns the place where the next one begins. */
  private int piece(int i, byte[] data, int start, int end, RecordValues values)
      throws UnreadableException {
    Piece piece = pieces.get(i);
    int from = start;
    int to;
    switch (piece.kind()) {
      case SKIP -> {
        return skip(i, data, start, end);
      }
      case BRACKETS -> {
        open(i, data, start, end, '[');
        from++;
        to = find(data, from, end, ']');
      }
      case QUOTES, ESCAPED, CUT -> {
        open(i, data, start, end, '"');
        from++;
        to = closing(data, from, end, piece.kind() == Kind.ESCAPED);
      }
      case PADDED -> {
        while (from < end && data[from] == ' ') {
          from++;
        }
        to = find(data, from, end, ' ');
      }
      default -> {
        to = find(data, from, end, ' ');
        for (int word = 1; word < piece.words() && to < end; word++) {
          to = find(data, to + 1, end, ' ');
        }
      }
    }
    boolean word = piece.kind() == Kind.WORD || piece.kind() == Kind.PADDED;
    if (word ? to == from : to >= end && !isCut(piece, end)) {
      throw new UnreadableException(
          piece.name() + (word ? ": nothing (expected: a word)" : ": is not closed"));
    }
    if (word && to == end && i + 1 < Math.min(firstOptional, pieces.size())) {
      throw new UnreadableException(piece.name() + ": the line ends in it");
    }
    int slot = slots[i];
    if (slot >= 0 && piece.kind() == Kind.ESCAPED && Escapes.any(data, from, to)) {
      byte[] plain = Escapes.undone(data, from, to);
      values.set(slot, plain, 0, plain.length);
    } else if (slot >= 0) {
      cut += to >= end && !word ? 1 : 0;
      values.set(slot, data, from, to);
    }
    return word ? to + 1 : to + 2;
  }

  /** Returns whether the line ends in the value because its writer bounds lines. */
  private boolean isCut(Piece piece, int end) {
    return piece.kind() == Kind.CUT && end - lines.lineFrom() >= LONG;
  }

  /** Returns the place of the value behind the text that is left out. */
  private int skip(int i, byte[] data, int start, int end) throws UnreadableException {
    if (i + 1 == pieces.size()) {
      return end;
    }
    Piece next = pieces.get(i + 1);
    int at =
        switch (next.kind()) {
          case BRACKETS -> find(data, start, end, '[');
          case QUOTES, ESCAPED, CUT -> find(data, start, end, '"');
          default -> LinePrefix.firstAddress(data, start, end);
        };
    if (at >= end) {
      throw new UnreadableException(next.name() + ": the line ends before it");
    }
    return at;
  }

  private void open(int i, byte[] data, int at, int end, char bracket) throws UnreadableException {
    if (data[at] != bracket) {
      throw new UnreadableException(
          pieces.get(i).name()
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

  private static int anchor(byte[] data, int start, int end) throws UnreadableException {
    for (int at = start + 1; at + 2 < end; at++) {
      if (data[at] == '[' && data[at - 1] == ' ' && data[at + 1] >= '0' && data[at + 1] <= '9') {
        int word = at - 1;
        boolean port = false;
        while (word > start && data[word - 1] != ' ') {
          port |= data[--word] == ':';
        }
        if (!port) {
          throw new UnreadableException(
              "client: " + ShownText.quoted(data, word, at - 1) + " (expected: address:port)");
        }
        return word;
      }
    }
    throw new UnreadableException("time: no [ with a digit behind it");
  }
}
