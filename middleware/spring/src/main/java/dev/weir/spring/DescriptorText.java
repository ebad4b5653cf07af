package dev.weir.spring;

import dev.weir.identity.Template;
import dev.weir.rules.Entry;
import java.util.ArrayList;
import java.util.List;

/** A reader of descriptors in their written form: {@code key=value[,key2=value2]}. */
final class DescriptorText {
  private DescriptorText() {}

  /**
   * @throws IllegalArgumentException if it is malformed
   */
  static List<Entry> parse(String text) {
    List<Entry> entries = new ArrayList<>();
    for (Template.Pair pair : Template.parseDescriptor(text)) {
      String value = pair.value().literal();
      if (value == null) {
        throw new IllegalArgumentException(
            "descriptor: \"" + text + "\" (expected: key=value[,key2=value2], no braces)");
      }
      entries.add(new Entry(pair.key(), value));
    }
    return entries;
  }
}
