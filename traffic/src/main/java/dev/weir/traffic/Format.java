package dev.weir.traffic;

import dev.weir.rules.Choice;

/** How records are written in an input. */
public enum Format {
  /** As the input's name or, failing that, its beginning shows. */
  AUTO,
  /** Access logs of Apache and nginx, combined or common. */
  COMBINED,
  /** Comma-separated values with a header, RFC 4180. */
  CSV,
  /** Tab-separated values with a header. */
  TSV,
  /** One JSON object a line. */
  JSONL;

  /** Returns the name used in flags and reports, for example {@code jsonl}. */
  public String text() {
    return Choice.text(this);
  }

  /**
   * Returns the format of that name.
   *
   * @throws IllegalArgumentException if there is none; the message lists all
   */
  public static Format of(String text) {
    return Choice.of(Format.class, "format", text);
  }

  @Override
  public String toString() {
    return text();
  }
}
