package dev.weir.config;

import dev.weir.config.internal.bytes.Check;

/**
 * A customer whose limits a record holds, for example {@code shop, user, alice}.
 *
 * @param domain of the rules, 1 to 1,024 bytes in UTF-8 without control characters
 * @param key of a descriptor's entry, 1 to 1,024 bytes in UTF-8 without control characters
 * @param value of that entry, 0 to 4,096 bytes in UTF-8
 */
public record Subject(String domain, String key, String value) {
  /** The longest name of a domain or key in a rule file. */
  public static final int MAX_NAME_BYTES = 1_024;

  /**
   * The longest value: longer than any key worth a limit of its own, and half a page of a database.
   */
  public static final int MAX_VALUE_BYTES = 4_096;

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a text is too long, empty, or not Unicode
   */
  public Subject {
    Check.line("domain", domain, 1, MAX_NAME_BYTES);
    Check.line("key", key, 1, MAX_NAME_BYTES);
    Check.text("value", value, 0, MAX_VALUE_BYTES);
  }
}
