package dev.weir.admin.internal.limits;

import dev.weir.rules.ShownText;

/** Values of requests as messages show them. */
public final class Shown {
  private Shown() {}

  public static String brief(String text) {
    return ShownText.brief(text);
  }

  /** Returns a message: what is wrong with a value, and what was expected. */
  public static String wrong(String name, String value, String expected) {
    return brief(name) + ": " + brief(value) + " (expected: " + expected + ")";
  }
}
