package dev.weir.identity;

import java.util.ArrayList;
import java.util.List;

/** A reader of templates in one text, from left to right. */
final class TemplateReader {
  private final String text;
  private int at;

  TemplateReader(String text) {
    this.text = text;
  }

  /** Skips the character if it is next. */
  boolean skip(char c) {
    boolean next = at < text.length() && text.charAt(at) == c;
    at += next ? 1 : 0;
    return next;
  }

  /** Reads up to the first of {@code ends} outside braces, or to the end. */
  List<Template.Piece> pieces(String ends) {
    List<Template.Piece> pieces = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    while (at < text.length() && ends.indexOf(text.charAt(at)) < 0) {
      char c = text.charAt(at);
      if (c == '}') {
        throw wrong("a { before }, or \\}");
      } else if (c == '{') {
        at++;
        close(pieces, literal);
        pieces.add(field());
      } else {
        literal.append(character());
      }
    }
    close(pieces, literal);
    return pieces;
  }

  private static void close(List<Template.Piece> pieces, StringBuilder literal) {
    if (literal.length() > 0) {
      pieces.add(new Template.Literal(literal.toString()));
      literal.setLength(0);
    }
  }

  /** Reads a field, up to its closing brace. */
  private Template.Field field() {
    List<String> names = new ArrayList<>();
    StringBuilder whole = new StringBuilder();
    StringBuilder name = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == '{') {
        throw wrong("no { within braces, or \\{");
      } else if (c == '}' || c == '|') {
        at++;
        if (name.length() == 0) {
          throw wrong(
              c == '}' && names.isEmpty()
                  ? "a name in the braces"
                  : "a name at each side of |, or \\|");
        }
        names.add(name.toString());
        name.setLength(0);
        if (c == '}') {
          return new Template.Field(names, whole.toString());
        }
        whole.append(c);
      } else {
        char literal = character();
        name.append(literal);
        whole.append(literal);
      }
    }
    throw wrong("a } behind {");
  }

  /** Reads a character, literally if a backslash precedes it. */
  private char character() {
    if (text.charAt(at) == '\\' && ++at == text.length()) {
      throw wrong("a character behind the last backslash");
    }
    return text.charAt(at++);
  }

  private TemplateException wrong(String expected) {
    return new TemplateException(text, expected);
  }
}
