package dev.weir.config.internal.follow;

import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.ConfigStore;
import dev.weir.config.Head;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.rows.Tree;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A revision of the rules with the texts of its files.
 *
 * @param store the id of its store
 * @param texts by the name of the file
 */
public record RuleTexts(String store, long revision, SortedMap<String, String> texts) {
  /** The texts before any were read. */
  public static final RuleTexts NONE = new RuleTexts("", 0, new TreeMap<>());

  /** Returns the texts of a store that has no rules. */
  public static RuleTexts none(Head head) {
    return new RuleTexts(head.store(), 0, new TreeMap<>());
  }

  public boolean is(Head head) {
    return store.equals(head.store()) && revision == head.revision();
  }

  /**
   * Reads the head's revision; reads only those texts that this lacks.
   *
   * @throws ConfigException if the store does not answer, or not with what was committed
   */
  public RuleTexts read(ConfigStore from, Head head) {
    String name = "revision " + head.revision();
    Tree tree = from.revision(head.revision()).orElseThrow(() -> wrong(name, "missing")).tree();
    Map<String, String> known = new TreeMap<>();
    texts.values().forEach(text -> known.put(HexHash.of(text), text));
    Collection<String> hashes = tree.files().values();
    Set<String> missing = new HashSet<>(hashes);
    missing.removeAll(known.keySet());
    if (!missing.isEmpty()) {
      known.putAll(from.texts(missing));
    }
    SortedMap<String, String> files = new TreeMap<>();
    tree.files()
        .forEach(
            (file, hash) -> {
              String text = known.get(hash);
              if (text == null) {
                throw wrong(name, "no text of " + file);
              }
              files.put(file, text);
            });
    if (!Tree.of(files).equals(tree)) {
      throw wrong(name, "other texts than were committed");
    }
    return new RuleTexts(head.store(), head.revision(), files);
  }

  private static ConfigException wrong(String name, String how) {
    return new ConfigException(Kind.DAMAGED, name + ": " + how + " (expected: as committed)");
  }
}
