package dev.weir.replay.internal.judge;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import java.util.List;

/**
 * The key under which a rule counts requests together, in the form in which people read it: {@code
 * host=example.org,path=/}.
 */
public record RuleKey(Rule rule, String key) {

  static RuleKey of(Rule rule, Descriptor descriptor) {
    List<Entry> entries = descriptor.entries();
    if (entries.size() == 1) {
      return new RuleKey(rule, entries.get(0).key() + '=' + value(rule, entries, 0));
    }
    StringBuilder key = new StringBuilder();
    for (int i = 0; i < entries.size(); i++) {
      key.append(i == 0 ? "" : ",").append(entries.get(i).key());
      key.append('=').append(value(rule, entries, i));
    }
    return new RuleKey(rule, key.toString());
  }

  /**
   * Returns the value at a level: all values that match a shared level are counted together, under
   * its pattern.
   */
  private static String value(Rule rule, List<Entry> entries, int level) {
    return rule.sharedAt(level) ? rule.patternAt(level) : entries.get(level).value();
  }

  /** Returns a hash that is the same in every run. */
  int hash() {
    return 31 * rule.path().hashCode() + key.hashCode();
  }

  @Override
  public int hashCode() {
    return 31 * System.identityHashCode(rule) + key.hashCode();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RuleKey that && rule == that.rule && key.equals(that.key);
  }
}
