package dev.weir.admin.internal.limits;

/** Values of requests in the form in which messages show them. */
public final class ShownText {
  private ShownText() {}

  public static String brief(String text) {
    return dev.weir.rules.ShownText.brief(text);
  }

  /** Returns a message that names a wrong value, and what was expected. */
  public static String wrong(String name, String value, String expected) {
    return brief(name) + ": " + brief(value) + " (expected: " + expected + ")";
  }
}
