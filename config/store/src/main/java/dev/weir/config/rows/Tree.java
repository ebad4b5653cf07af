package dev.weir.config.rows;

import dev.weir.config.Json;
import dev.weir.config.internal.bytes.Check;
import dev.weir.config.internal.bytes.HexHash;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rule files of a revision: names and the SHA-256 of their texts in UTF-8, 64 hexadecimal
 * digits in lower case.
 *
 * @param files at most 1,000, in the order of their names. A name ends in {@code .yaml} or {@code
 *     .yml}, does not begin with a dot, and names no folder, as in a folder of rules; at most 255
 *     bytes in UTF-8
 */
public record Tree(SortedMap<String, String> files) {
  /** The most files in a folder of rules. */
  static final int MAX_FILES = 1_000;

  /** The longest name that file systems accept, in bytes. */
  static final int MAX_NAME_BYTES = 255;

  static final Tree EMPTY = new Tree(new TreeMap<>());

  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if a name or a hash is invalid
   */
  public Tree {
    files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
    Check.range("files", files.size(), 0, MAX_FILES);
    files.forEach(
        (name, hash) -> {
          requireName(name);
          HexHash.require(name, hash);
        });
  }

  /** Returns the tree of files with these texts. */
  public static Tree of(Map<String, String> texts) {
    SortedMap<String, String> files = new TreeMap<>();
    texts.forEach((name, text) -> files.put(name, HexHash.of(text)));
    return new Tree(files);
  }

  /** Returns a hash of the names and texts of all files. */
  public String hash() {
    return HexHash.of(Json.write(files));
  }

  private static void requireName(String name) {
    Check.line("file", name, 1, MAX_NAME_BYTES);
    if (name.indexOf('/') >= 0 || name.indexOf('\\') >= 0 || !isRuleFile(name)) {
      throw Check.wrong(
          "file", name, "a name without folder and leading dot that ends in .yaml or .yml");
    }
  }

  private static boolean isRuleFile(String name) {
    return !name.startsWith(".") && (name.endsWith(".yaml") || name.endsWith(".yml"));
  }
}
