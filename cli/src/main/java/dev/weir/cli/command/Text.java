package dev.weir.cli.command;

import dev.weir.rules.Entry;
import java.util.ArrayList;
import java.util.List;

/** Helpers for small texts that several commands read or write. */
public final class Text {
  private Text() {}

  /** Returns {@code 1 rule}, {@code 2 rules}. */
  public static String count(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }

  /**
   * Reads {@code k=v,k2=v2}. A backslash takes the character after it literally.
   *
   * @throws IllegalArgumentException if a pair has no key or no equals sign
   */
  public static List<Entry> entries(String text) {
    List<Entry> entries = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    String key = null;
    for (int i = 0; i <= text.length(); i++) {
      char c = i < text.length() ? text.charAt(i) : ',';
      if (c == '\\' && i + 1 < text.length()) {
        part.append(text.charAt(++i));
      } else if (c == '=' && key == null) {
        key = part.toString();
        part.setLength(0);
      } else if (c == ',') {
        if (key == null || key.isEmpty()) {
          throw new IllegalArgumentException(
              "descriptor: " + text + " (expected: key=value[,key=value...])");
        }
        entries.add(new Entry(key, part.toString()));
        key = null;
        part.setLength(0);
      } else {
        part.append(c);
      }
    }
    return entries;
  }
}
