package dev.weir.replay;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Text with columns in braces: {@code user-{id}}. A backslash takes the character behind it
 * literally: {@code \{ \} \, \= \\}.
 */
final class Template {
  /** A piece of literal text, or a column. */
  private record Part(String text, boolean column) {}

  private final List<Part> parts;
  private int[] slots = new int[0];

  private Template(List<Part> parts) {
    this.parts = parts;
  }

  /** What {@link #parse} has read, and where it stopped. */
  record Parsed(Template template, int end) {}

  /** Reads all of the text. */
  static Template of(String name, String text) throws ReplayException {
    return parse(name, text, 0, "").template;
  }

  /** Reads the text from {@code start} up to the first of {@code ends} outside braces. */
  static Parsed parse(String name, String text, int start, String ends) throws ReplayException {
    List<Part> parts = new ArrayList<>();
    StringBuilder piece = new StringBuilder();
    boolean column = false;
    int at = start;
    for (; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == '\\') {
        if (++at == text.length()) {
          throw wrong(name, text, "a character behind the last backslash");
        }
        piece.append(text.charAt(at));
      } else if (c == '{') {
        if (column) {
          throw wrong(name, text, "no { within braces, or \\{");
        }
        close(parts, piece, false);
        column = true;
      } else if (c == '}') {
        if (!column || piece.length() == 0) {
          throw wrong(
              name, text, column ? "a column's name in the braces" : "a { before }, or \\}");
        }
        close(parts, piece, true);
        column = false;
      } else if (!column && ends.indexOf(c) >= 0) {
        break;
      } else {
        piece.append(c);
      }
    }
    if (column) {
      throw wrong(name, text, "a } behind {");
    }
    close(parts, piece, false);
    return new Parsed(new Template(List.copyOf(parts)), at);
  }

  private static void close(List<Part> parts, StringBuilder piece, boolean column) {
    if (piece.length() > 0) {
      parts.add(new Part(piece.toString(), column));
      piece.setLength(0);
    }
  }

  private static ReplayException wrong(String name, String text, String expected) {
    return new ReplayException(name + ": " + Shown.quoted(text) + " (expected: " + expected + ")");
  }

  /** Returns the columns it names. */
  List<String> columns() {
    return parts.stream().filter(Part::column).map(Part::text).toList();
  }

  /** Returns the text if it names no column, else null. */
  @Nullable String literal() {
    return columns().isEmpty() ? literals() : null;
  }

  private String literals() {
    StringBuilder text = new StringBuilder();
    parts.forEach(part -> text.append(part.text));
    return text.toString();
  }

  /** Says in which slot each column will be. To be called before {@link #render}. */
  void bind(List<String> columns) {
    slots = new int[parts.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = parts.get(i).column ? columns.indexOf(parts.get(i).text) : -1;
    }
  }

  /** Returns the slot if it is one column and nothing else, else -1. */
  int onlySlot() {
    return slots.length == 1 ? slots[0] : -1;
  }

  String render(Fields fields) {
    if (slots.length == 1) {
      return slots[0] < 0 ? parts.get(0).text : fields.text(slots[0]);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < slots.length; i++) {
      text.append(slots[i] < 0 ? parts.get(i).text : fields.text(slots[i]));
    }
    return text.toString();
  }
}
