package dev.weir.admin.internal.limits;

import dev.weir.rules.ShownText;

/** Values of requests in the form in which messages show them. */
public final class Shown {
  private Shown() {}

  public static String brief(String text) {
    return ShownText.brief(text);
  }

  /** Returns a message that names a wrong value, and what was expected. */
  public static String wrong(String name, String value, String expected) {
    return brief(name) + ": " + brief(value) + " (expected: " + expected + ")";
  }
}
