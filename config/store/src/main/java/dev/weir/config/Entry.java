package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import java.io.IOException;

/**
 * A small document under a name, next to rules and records: a token, the state of a rollout.
 *
 * @param kind 1 to 50 small letters and hyphens; not {@code rules} or {@code record}
 * @param name 1 to 200 bytes in UTF-8 without control characters
 * @param json an object with texts, whole numbers, booleans, lists and objects, up to 64 KiB, as
 *     canonical JSON
 * @param version the number of the change that wrote it
 */
public record Entry(String kind, String name, String json, long version) {
  /** The largest JSON of an entry, in bytes. */
  public static final int MAX_JSON_BYTES = 64 << 10;

  /**
   * Checks the values, and makes the JSON canonical.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public Entry {
    requireKind(kind);
    Check.line("name", name, 1, 200);
    json = canonical(json);
    Check.range("version", version, 0, Long.MAX_VALUE);
  }

  public static String requireKind(String kind) {
    boolean other = kind.equals(ChangeDetails.RULES) || kind.equals(ChangeDetails.RECORD);
    if (other || !kind.matches("[a-z][a-z-]{0,49}")) {
      throw Check.wrong(
          "kind", kind, "1 to 50 small letters and hyphens, neither rules nor record");
    }
    return kind;
  }

  public static String canonical(String json) {
    Check.text("json", json, 2, MAX_JSON_BYTES);
    try {
      return Json.read(json).text();
    } catch (IOException e) {
      throw Check.wrong("json", json, "an object: " + e.getMessage());
    }
  }
}
