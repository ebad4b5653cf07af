package dev.weir.identity;

/** An exception for a template that cannot be read. */
public final class TemplateException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  private final String text;
  private final String expected;

  TemplateException(String text, String expected) {
    super("descriptor: " + QuotedText.of(text) + " (expected: " + expected + ")");
    this.text = text;
    this.expected = expected;
  }

  /** Returns the whole text of the template, unchanged. */
  public String text() {
    return text;
  }

  /** Returns what was expected. */
  public String expected() {
    return expected;
  }
}
