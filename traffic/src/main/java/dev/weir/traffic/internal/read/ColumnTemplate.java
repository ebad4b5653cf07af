package dev.weir.traffic.internal.read;

import dev.weir.identity.AddressKey;
import dev.weir.identity.Template;
import dev.weir.identity.TemplateException;
import dev.weir.rules.ShownText;
import dev.weir.traffic.TrafficException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Template} whose fields are columns. Of alternatives, {@code {login|ip}}, the first
 * column that is not empty counts, with its name before the value as in the requests of a server:
 * {@code login:alice}. An address becomes the same key as in a server: {@code {ip}} is cut to its
 * network, {@code {ip/48}} and {@code {ip/24/48}} to another one.
 */
public final class ColumnTemplate {
  /** The text that an access log writes for an absent value. */
  private static final String NOTHING = "-";

  /**
   * A field's name.
   *
   * @param name the name as it is in the template
   * @param column the column that it names
   * @param address the way in which the column's addresses become keys; null if it has none
   */
  private record Name(String name, String column, @Nullable AddressKey address) {
    static Name of(String column) {
      return new Name(
          column, column, UsualColumns.mayHaveAddresses(column) ? AddressKey.USUAL : null);
    }

    String value(RecordValues values, int slot) {
      String text = values.text(slot);
      // The usual case: an IPv4 address is its own key, and so is text that is not an address.
      if (address == null || (address == AddressKey.USUAL && text.indexOf(':') < 0)) {
        return text;
      }
      String key = address.of(text);
      return key == null ? text : key;
    }
  }

  /**
   * A piece of the template.
   *
   * @param text the literal text, or the text between the braces
   * @param names the alternatives, empty for literal text
   */
  private record Part(String text, List<Name> names) {}

  private final List<Part> parts = new ArrayList<>();
  private int[][] slots = new int[0][];

  public ColumnTemplate(Template template) {
    for (Template.Piece piece : template.pieces()) {
      if (piece instanceof Template.Field field) {
        parts.add(new Part(field.text(), field.names().stream().map(Name::of).toList()));
      } else if (piece instanceof Template.Literal literal) {
        parts.add(new Part(literal.text(), List.of()));
      }
    }
  }

  /** Reads the whole text of an option's value. */
  public static ColumnTemplate of(String name, String text) throws TrafficException {
    try {
      return new ColumnTemplate(Template.parse(text));
    } catch (TemplateException e) {
      throw wrong(name, e);
    }
  }

  public static TrafficException wrong(String name, TemplateException e) {
    return new TrafficException(
        name + ": " + ShownText.quoted(e.text()) + " (expected: " + e.expected() + ")");
  }

  /**
   * Reads a name that looks like alternatives, or like an address with a prefix, as one column if
   * there is one of that name.
   *
   * @throws TrafficException if the prefix of an address is not valid
   */
  public void resolve(Predicate<String> isColumn) throws TrafficException {
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      if (part.names.size() > 1 && isColumn.test(part.text)) {
        parts.set(i, new Part(part.text, List.of(Name.of(part.text))));
      } else {
        List<Name> names = new ArrayList<>();
        for (Name name : part.names) {
          names.add(isColumn.test(name.name) ? name : prefixed(name));
        }
        parts.set(i, new Part(part.text, names));
      }
    }
  }

  /** Returns a name of the form {@code ip/48} as its column and prefix, and others as they are. */
  private static Name prefixed(Name name) throws TrafficException {
    int slash = name.name.indexOf('/');
    String column = slash < 0 ? "" : name.name.substring(0, slash);
    if (!UsualColumns.mayHaveAddresses(column)) {
      return name;
    }
    try {
      return new Name(name.name, column, AddressKey.ofPrefixes(name.name.substring(slash + 1)));
    } catch (IllegalArgumentException e) {
      throw new TrafficException(
          "descriptor: "
              + ShownText.quoted("{" + name.name + "}")
              + " (expected: "
              + e.getMessage()
              + ")");
    }
  }

  /** Returns the columns that the template names. */
  public List<String> columns() {
    return parts.stream().flatMap(part -> part.names.stream()).map(Name::column).toList();
  }

  /** Returns the columns that every record must have: those without an alternative. */
  public List<String> required() {
    return parts.stream()
        .filter(part -> part.names.size() == 1)
        .map(part -> part.names.get(0).column)
        .toList();
  }

  /** Returns the text if it names no column; otherwise null. */
  @Nullable
  public String literal() {
    StringBuilder text = new StringBuilder();
    for (Part part : parts) {
      if (!part.names.isEmpty()) {
        return null;
      }
      text.append(part.text);
    }
    return text.toString();
  }

  /**
   * Sets the columns' slots: each column is in the slot of its place in the list. To be called
   * before {@link #render}.
   */
  public void bind(List<String> columns) {
    slots = new int[parts.size()][];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = parts.get(i).names.stream().map(Name::column).mapToInt(columns::indexOf).toArray();
    }
  }

  /** Returns the slot if the template is one column and nothing else; otherwise -1. */
  public int onlySlot() {
    return slots.length == 1 && slots[0].length == 1 ? slots[0][0] : -1;
  }

  /** Returns the column if the template is one column and nothing else; otherwise null. */
  @Nullable
  public String onlyColumn() {
    return parts.size() == 1 && parts.get(0).names.size() == 1
        ? parts.get(0).names.get(0).column
        : null;
  }

  public String render(RecordValues values) {
    if (slots.length == 1) {
      return render(0, values);
    }
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < slots.length; i++) {
      text.append(render(i, values));
    }
    return text.toString();
  }

  private String render(int i, RecordValues values) {
    Part part = parts.get(i);
    int[] alternatives = slots[i];
    if (alternatives.length == 0) {
      return part.text;
    }
    if (alternatives.length == 1) {
      return part.names.get(0).value(values, alternatives[0]);
    }
    for (int j = 0; j < alternatives.length; j++) {
      String value = part.names.get(j).value(values, alternatives[j]);
      if (!value.isEmpty() && !value.equals(NOTHING)) {
        return part.names.get(j).name + ":" + value;
      }
    }
    return "";
  }
}
