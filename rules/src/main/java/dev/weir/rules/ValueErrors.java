package dev.weir.rules;

import dev.weir.internal.Choice;

/** Messages about wrong values, all in the form {@code name: value (expected: constraint)}. */
public final class ValueErrors {
  private ValueErrors() {}

  /** Returns the line {@code name: value (expected: constraint)}. */
  public static String line(String name, Object value, String constraint) {
    return name + ": " + value + " (expected: " + constraint + ")";
  }

  /** Returns an exception whose message is that line. */
  public static IllegalArgumentException error(String name, Object value, String constraint) {
    return new IllegalArgumentException(line(name, value, constraint));
  }

  /**
   * Returns the value.
   *
   * @throws IllegalArgumentException if it is not within {@code min} and {@code max}, both included
   */
  public static long range(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw error(name, value, min + ".." + max);
    }
    return value;
  }

  /**
   * Returns the constant that the text stands for.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static <E extends Enum<E>> E choice(Class<E> type, String name, String text) {
    E found = Choice.find(type, text);
    if (found == null) {
      throw error(name, ShownText.plain(text), "one of " + String.join(", ", Choice.texts(type)));
    }
    return found;
  }
}
