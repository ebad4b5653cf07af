package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The order of the values in a line, written as a text with one word for each value and one space
 * between them:
 *
 * <ul>
 *   <li>{@code name}: the value goes up to the next space; {@code ~name}: the same, with more than
 *       one space before it; the same name again: the value has one more word;
 *   <li>{@code [name]}: the value stands in brackets;
 *   <li>{@code "name"}: the value stands in quotes, and ends at a quote with a space or the line's
 *       end behind it; {@code 'name'}: the same, and backslashes escape; {@code "name}: the same as
 *       with two quotes, and a long line may be cut off in it;
 *   <li>{@code -}: a word that is left out;
 *   <li>{@code *}: the text up to the next value is left out: up to a quote or a bracket, or else
 *       up to an address;
 *   <li>{@code ?}: a line may end here, or anywhere behind it; the values that are missing are
 *       empty.
 * </ul>
 *
 * <p>Text behind the last value is ignored. Immutable.
 */
final class Layout {
  /** The way in which a value is delimited. */
  enum Kind {
    WORD,
    PADDED,
    BRACKETS,
    QUOTES,
    ESCAPED,
    CUT,
    SKIP
  }

  /**
   * A value.
   *
   * @param name its column, empty if it is left out
   * @param words the number of its words, if it consists of words
   */
  record Piece(Kind kind, String name, int words) {}

  /** A pattern of one word of a layout: marks, a name, marks. */
  private static final Pattern WORD =
      Pattern.compile(
          "(?:(~?)([A-Za-z_][\\w.-]*)|\\[([A-Za-z_][\\w.-]*)\\]|\"([A-Za-z_][\\w.-]*)(\"?)"
              + "|'([A-Za-z_][\\w.-]*)'|([-*?]))");

  private static final String EXPECTED =
      "names of the values with one space between, such as 'ip - user [time] \"request\" status';"
          + " - leaves out a word, * all up to the next quote, bracket or address";

  private final List<Piece> pieces;
  private final int firstOptional;

  private Layout(List<Piece> pieces, int firstOptional) {
    this.pieces = List.copyOf(pieces);
    this.firstOptional = firstOptional;
  }

  /** Returns the layout that is asked for; null if the format has its own. */
  static @Nullable Layout asked(Traffic traffic) throws TrafficException {
    String text = traffic.layout();
    Format format = traffic.format();
    if (text == null && format == Format.LAYOUT) {
      throw new TrafficException(
          "layout: none (expected: --layout with the order of the values in a line)");
    }
    if (text != null && format != Format.AUTO && format != Format.LAYOUT) {
      throw new TrafficException(
          "layout: " + ShownText.quoted(text) + " (expected: none with --format " + format + ")");
    }
    return text == null ? null : of(text);
  }

  /**
   * Reads a layout.
   *
   * @throws TrafficException if the text is not a layout, or has a name in two places
   */
  static Layout of(String text) throws TrafficException {
    List<Piece> pieces = new ArrayList<>();
    int firstOptional = Integer.MAX_VALUE;
    for (String word : text.strip().split(" ", -1)) {
      Matcher matcher = WORD.matcher(word);
      if (!matcher.matches()) {
        throw wrong(text, "not " + ShownText.quoted(word) + "; " + EXPECTED);
      }
      if (word.equals("?")) {
        firstOptional = pieces.size();
        continue;
      }
      Piece piece = piece(word, matcher);
      int before = pieces.size() - 1;
      boolean again =
          before >= 0
              && !piece.name.isEmpty()
              && piece.kind == Kind.WORD
              && pieces.get(before).name.equals(piece.name)
              && pieces.get(before).kind == Kind.WORD;
      if (again) {
        pieces.set(before, new Piece(Kind.WORD, piece.name, pieces.get(before).words + 1));
      } else if (!piece.name.isEmpty()
          && pieces.stream().anyMatch(p -> p.name.equals(piece.name))) {
        throw wrong(text, ShownText.quoted(piece.name) + " in one place");
      } else {
        pieces.add(piece);
      }
    }
    if (pieces.stream().allMatch(piece -> piece.name.isEmpty())) {
      throw wrong(text, EXPECTED);
    }
    return new Layout(pieces, firstOptional);
  }

  private static TrafficException wrong(String text, String expected) {
    return new TrafficException(
        "layout: " + ShownText.quoted(text) + " (expected: " + expected + ")");
  }

  private static Piece piece(String word, Matcher matcher) {
    for (int group : new int[] {2, 3, 4, 6}) {
      String name = matcher.group(group);
      if (name != null) {
        Kind kind =
            switch (group) {
              case 2 -> matcher.group(1).isEmpty() ? Kind.WORD : Kind.PADDED;
              case 3 -> Kind.BRACKETS;
              case 4 -> matcher.group(5).isEmpty() ? Kind.CUT : Kind.QUOTES;
              default -> Kind.ESCAPED;
            };
        return new Piece(kind, name, 1);
      }
    }
    return new Piece(word.equals("*") ? Kind.SKIP : Kind.WORD, "", 1);
  }

  List<Piece> pieces() {
    return pieces;
  }

  /** Returns the index of the first value that a line may lack. */
  int firstOptional() {
    return firstOptional;
  }
}
