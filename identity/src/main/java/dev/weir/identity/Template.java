package dev.weir.identity;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Text with fields in braces: {@code user-{id}}. A field names the source of its value, or several
 * alternatives, {@code {login|ip}}, of which the first that is present counts. A backslash makes
 * the character behind it literal: {@code \{ \} \, \= \| \\}. This is only the syntax: its reader
 * determines what a name means. Immutable.
 */
public final class Template {
  /** A piece of a template: literal text, or a field. */
  public sealed interface Piece {}

  /** Text that is taken literally. */
  public record Literal(String text) implements Piece {}

  /**
   * A field.
   *
   * @param names the alternatives, one at least; none is empty
   * @param text the text between the braces, without backslashes
   */
  public record Field(List<String> names, String text) implements Piece {
    public Field {
      names = List.copyOf(names);
    }
  }

  /** An entry of a future descriptor: a literal key, and the template of its value. */
  public record Pair(String key, Template value) {}

  private final List<Piece> pieces;

  private Template(List<Piece> pieces) {
    this.pieces = List.copyOf(pieces);
  }

  /**
   * Reads the whole text.
   *
   * @throws TemplateException if it is no template
   */
  public static Template parse(String text) {
    TemplateReader reader = new TemplateReader(text);
    return new Template(reader.pieces(""));
  }

  /**
   * Reads {@code key={field}[,key2={field2}]}. Keys are literal.
   *
   * @throws TemplateException if it is no descriptor
   */
  public static List<Pair> parseDescriptor(String text) {
    TemplateReader reader = new TemplateReader(text);
    List<Pair> pairs = new ArrayList<>();
    do {
      String key = new Template(reader.pieces(",=")).literal();
      if (key == null || key.isEmpty() || !reader.skip('=')) {
        throw new TemplateException(text, "key={column}[,key2={column2}]");
      }
      pairs.add(new Pair(key, new Template(reader.pieces(","))));
    } while (reader.skip(','));
    return List.copyOf(pairs);
  }

  /** Returns literals and fields in their order. */
  public List<Piece> pieces() {
    return pieces;
  }

  /** Returns the fields in their order. */
  public List<Field> fields() {
    return pieces.stream().filter(Field.class::isInstance).map(Field.class::cast).toList();
  }

  /** Returns the text if it has no field, else null. */
  public @Nullable String literal() {
    StringBuilder text = new StringBuilder();
    for (Piece piece : pieces) {
      if (!(piece instanceof Literal literal)) {
        return null;
      }
      text.append(literal.text);
    }
    return text.toString();
  }
}
