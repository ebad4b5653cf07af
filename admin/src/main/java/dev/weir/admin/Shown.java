package dev.weir.admin;

import dev.weir.rules.ShownText;

/** Values of requests as messages show them. */
final class Shown {
  private Shown() {}

  static String brief(String text) {
    return ShownText.brief(text);
  }

  /** Returns a message: what is wrong with a value, and what was expected. */
  static String wrong(String name, String value, String expected) {
    return brief(name) + ": " + brief(value) + " (expected: " + expected + ")";
  }
}
