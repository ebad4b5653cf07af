package dev.weir.insight;

import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.List;

/**
 * The name of a key, whose requests a limit counts together. Immutable.
 *
 * @param rule the path of the rule, or empty if the request had its own limit
 * @param policy the policy's name in answers
 * @param entries the keys and values; a value that the rule counts together with others is replaced
 *     by its pattern
 * @param named for each entry, true if the value stands in the rule itself and therefore is not
 *     secret
 */
public record KeyName(String rule, String policy, List<Entry> entries, List<Boolean> named) {
  /**
   * The most characters of a key's values that are kept; of a longer key, the beginning and a hash.
   */
  static final int MAX_TEXT = 200;

  /** The most characters of each entry in a brief name, which also has few entries. */
  private static final int BRIEF_TEXT = 20;

  private static final int BRIEF_ENTRIES = 2;

  // The bytes that the objects take, about, without their texts.
  private static final long NAME_BYTES = 100;
  private static final long ENTRY_BYTES = 150;

  public KeyName {
    entries = List.copyOf(entries);
    named = List.copyOf(named);
  }

  /** Returns the key of a descriptor that a limit has decided. */
  static KeyName of(Descriptor descriptor, Status status) {
    Rule rule = status.rule();
    CurrentLimit limit = status.currentLimit();
    List<Entry> entries = new ArrayList<>(descriptor.entries().size());
    List<Boolean> named = new ArrayList<>(descriptor.entries().size());
    int most = Math.max(20, MAX_TEXT / Math.max(1, descriptor.entries().size()));
    for (int i = 0; i < descriptor.entries().size(); i++) {
      Entry entry = descriptor.entries().get(i);
      boolean known = rule != null && i < rule.levels() && rule.oneCounterAt(i);
      entries.add(
          rule != null && known
              ? new Entry(entry.key(), rule.patternAt(i))
              : new Entry(cut(entry.key(), most), cut(entry.value(), most)));
      named.add(known);
    }
    String policy = limit == null ? "" : limit.policy().name();
    return new KeyName(rule == null ? "" : rule.path(), policy, entries, named);
  }

  /**
   * Returns the key with the beginning of the text that {@link #of} keeps, and a hash of the rest.
   */
  static KeyName brief(Descriptor descriptor, Status status) {
    KeyName whole = of(descriptor, status);
    List<Entry> entries = new ArrayList<>(BRIEF_ENTRIES + 1);
    List<Boolean> named = new ArrayList<>(BRIEF_ENTRIES + 1);
    for (int i = 0; i < Math.min(BRIEF_ENTRIES, whole.entries.size()); i++) {
      Entry entry = whole.entries.get(i);
      entries.add(new Entry(cut(entry.key(), BRIEF_TEXT), cut(entry.value(), BRIEF_TEXT)));
      named.add(whole.named.get(i));
    }
    if (whole.entries.size() > BRIEF_ENTRIES) {
      entries.add(new Entry("\u2026", Integer.toHexString(descriptor.entries().hashCode())));
      named.add(false);
    }
    return new KeyName(whole.rule, whole.policy, entries, named);
  }

  /** Returns the approximate bytes that the key takes. */
  long memoryBytes() {
    long bytes = NAME_BYTES;
    for (Entry entry : entries) {
      bytes += ENTRY_BYTES + 2L * (entry.key().length() + entry.value().length());
    }
    return bytes;
  }

  /** Returns a short text that differs if the whole text differs. */
  private static String cut(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    int end = most - 10;
    end -= Character.isHighSurrogate(text.charAt(end - 1)) ? 1 : 0;
    return text.substring(0, end) + '\u2026' + Integer.toHexString(text.hashCode());
  }
}
