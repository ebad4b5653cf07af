package dev.weir.replay.internal.judge;

import dev.weir.replay.Masking;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import java.util.List;

/** The names of keys in a tally, and the form in which they are shown. */
public interface KeyNames {
  /** The names in the form in which people read them. */
  KeyNames PLAIN =
      new KeyNames() {
        @Override
        public RuleKey of(Rule rule, Descriptor descriptor) {
          return RuleKey.of(rule, descriptor);
        }

        @Override
        public String shown(String name) {
          return name;
        }
      };

  /**
   * Returns the name of a descriptor's key under a rule: two keys have the same name only if they
   * are equal.
   */
  RuleKey of(Rule rule, Descriptor descriptor);

  /** Returns the form of a name that may be shown. */
  String shown(String name);

  /** Returns names that show values masked, except those that a rule names. */
  static KeyNames masked(Masking masking) {
    return new KeyNames() {
      @Override
      public RuleKey of(Rule rule, Descriptor descriptor) {
        List<Entry> entries = descriptor.entries();
        StringBuilder name = new StringBuilder(64);
        for (int i = 0; i < entries.size(); i++) {
          boolean named = rule.oneCounterAt(i);
          String value = named ? rule.patternAt(i) : entries.get(i).value();
          part(name, entries.get(i).key());
          name.append(named ? '+' : '-');
          part(name, value);
        }
        return new RuleKey(rule, name.toString());
      }

      private void part(StringBuilder name, String text) {
        name.append(text.length()).append(':').append(text);
      }

      @Override
      public String shown(String name) {
        StringBuilder shown = new StringBuilder();
        int at = 0;
        while (at < name.length()) {
          int key = name.indexOf(':', at) + 1;
          int keyEnd = key + Integer.parseInt(name.substring(at, key - 1));
          int value = name.indexOf(':', keyEnd) + 1;
          int end = value + Integer.parseInt(name.substring(keyEnd + 1, value - 1));
          String text = name.substring(value, end);
          shown.append(at == 0 ? "" : ",").append(name, key, keyEnd).append('=');
          shown.append(name.charAt(keyEnd) == '+' ? text : masking.masked(text));
          at = end;
        }
        return shown.toString();
      }
    };
  }
}
