package dev.weir.spring;

import org.jspecify.annotations.Nullable;

/**
 * One property with a wrong value.
 *
 * @param name as in a properties file, for example {@code weir.store.timeout}, or a text that
 *     locates the value as clearly
 * @param value the given value, or null if it must not be shown, or there is none
 * @param expected a description of a right value
 * @param origin the place of the value, or null if it is not known
 */
public record PropertyProblem(
    String name, @Nullable Object value, String expected, @Nullable String origin) {
  /** The longest value in a message; a longer one is cut. */
  private static final int MAX_SHOWN = 100;

  /** Makes a problem whose place is not known. */
  public PropertyProblem(String name, @Nullable Object value, String expected) {
    this(name, value, expected, null);
  }

  PropertyProblem from(@Nullable String where) {
    return new PropertyProblem(name, value, expected, where);
  }

  /** Returns {@code name: value (expected: constraint)}. */
  @Override
  public String toString() {
    String shown = value == null ? "" : " " + shown(value);
    String where = origin == null ? "" : ", from " + origin;
    return name + ":" + shown + " (expected: " + expected + ")" + where;
  }

  private static String shown(Object value) {
    if (value instanceof Number || value instanceof Boolean) {
      return value.toString();
    }
    StringBuilder text = new StringBuilder("\"");
    value
        .toString()
        .codePoints()
        .limit(MAX_SHOWN)
        .forEach(c -> text.appendCodePoint(Character.isISOControl(c) ? '?' : c));
    if (value.toString().codePointCount(0, value.toString().length()) > MAX_SHOWN) {
      text.append("...");
    }
    return text.append('"').toString();
  }
}
