package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.bytes.HexHash;

/**
 * A line of the log of all changes. It is kept as the text that was hashed, so that a version of
 * Weir that cannot read all of its members can still verify it.
 *
 * @param number counted from 1, without gaps
 * @param json the canonical JSON of the change: members in the order of their names, no spaces
 * @param hash SHA-256 over the 32 bytes of the previous change's hash (zeros for the first) and the
 *     JSON in UTF-8, 64 hexadecimal digits
 */
public record Change(long number, String json, String hash) {
  public Change {
    Check.range("number", number, 1, Long.MAX_VALUE);
    HexHash.require("hash", hash);
  }

  /**
   * Returns the content of the change.
   *
   * @throws ConfigException if it cannot be read
   */
  public ChangeDetails details() {
    return ChangeDetails.read(json);
  }
}
