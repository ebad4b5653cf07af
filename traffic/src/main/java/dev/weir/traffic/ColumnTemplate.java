package dev.weir.traffic;

import dev.weir.identity.Template;
import dev.weir.identity.TemplateException;
import dev.weir.rules.ShownText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Template} whose fields are columns. Of alternatives, {@code {login|ip}}, the first
 * column that has something counts, with its name before the value as in the requests of a server:
 * {@code login:alice}.
 */
final class ColumnTemplate {
  /** What an access log writes where there is nothing. */
  private static final String NOTHING = "-";

  /**
   * A piece of it.
   *
   * @param text the literal text, or what stands between the braces
   * @param columns the alternatives, none for literal text
   */
  private record Part(String text, List<String> columns) {}

  private final List<Part> parts = new ArrayList<>();
  private int[][] slots = new int[0][];

  ColumnTemplate(Template template) {
    for (Template.Piece piece : template.pieces()) {
      if (piece instanceof Template.Field field) {
        parts.add(new Part(field.text(), field.names()));
      } else if (piece instanceof Template.Literal literal) {
        parts.add(new Part(literal.text(), List.of()));
      }
    }
  }

  /** Reads all of the text, an option's value. */
  static ColumnTemplate of(String name, String text) throws TrafficException {
    try {
      return new ColumnTemplate(Template.parse(text));
    } catch (TemplateException e) {
      throw wrong(name, e);
    }
  }

  static TrafficException wrong(String name, TemplateException e) {
    return new TrafficException(
        name + ": " + ShownText.quoted(e.text()) + " (expected: " + e.expected() + ")");
  }

  /** Takes what looks like alternatives as one column if there is one of that name. */
  void resolve(Predicate<String> isColumn) {
    parts.replaceAll(
        part ->
            part.columns.size() > 1 && isColumn.test(part.text)
                ? new Part(part.text, List.of(part.text))
                : part);
  }

  /** Returns the columns it names. */
  List<String> columns() {
    return parts.stream().flatMap(part -> part.columns.stream()).toList();
  }

  /** Returns the columns that every record must have: those without an alternative. */
  List<String> required() {
    return parts.stream()
        .filter(part -> part.columns.size() == 1)
        .flatMap(part -> part.columns.stream())
        .toList();
  }

  /** Returns the text if it names no column, else null. */
  @Nullable String literal() {
    StringBuilder text = new StringBuilder();
    for (Part part : parts) {
      if (!part.columns.isEmpty()) {
        return null;
      }
      text.append(part.text);
    }
    return text.toString();
  }

  /** Says in which slot each column will be. To be called before {@link #render}. */
  void bind(List<String> columns) {
    slots = new int[parts.size()][];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = parts.get(i).columns.stream().mapToInt(columns::indexOf).toArray();
    }
  }

  /** Returns the slot if it is one column and nothing else, else -1. */
  int onlySlot() {
    return slots.length == 1 && slots[0].length == 1 ? slots[0][0] : -1;
  }

  /** Returns the column if it is one and nothing else, else null. */
  @Nullable String onlyColumn() {
    return parts.size() == 1 && parts.get(0).columns.size() == 1
        ? parts.get(0).columns.get(0)
        : null;
  }

  String render(RecordFields fields) {
    if (slots.length == 1) {
      return render(0, fields);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < slots.length; i++) {
      text.append(render(i, fields));
    }
    return text.toString();
  }

  private String render(int i, RecordFields fields) {
    Part part = parts.get(i);
    int[] alternatives = slots[i];
    if (alternatives.length == 0) {
      return part.text;
    }
    if (alternatives.length == 1) {
      return fields.text(alternatives[0]);
    }
    for (int j = 0; j < alternatives.length; j++) {
      String value = fields.text(alternatives[j]);
      if (!value.isEmpty() && !value.equals(NOTHING)) {
        return part.columns.get(j) + ":" + value;
      }
    }
    return "";
  }
}
