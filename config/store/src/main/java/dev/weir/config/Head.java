package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.bytes.HexHash;

/**
 * The state of a store: its newest revision and its last change.
 *
 * @param store 32 hexadecimal digits, drawn when the store was created: another store has others
 * @param revision of the rules; 0 if there are none yet
 * @param position the number of the last change; 0 if there is none yet
 * @param hash of the last change; kept elsewhere as well, it proves that the log was not rewritten
 */
public record Head(String store, long revision, long position, String hash) {
  public Head {
    Check.range("revision", revision, 0, Long.MAX_VALUE);
    Check.range("position", position, 0, Long.MAX_VALUE);
    HexHash.require("hash", hash);
  }
}
