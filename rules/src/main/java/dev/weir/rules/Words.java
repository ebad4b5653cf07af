package dev.weir.rules;

import dev.weir.Policy;
import java.util.Locale;

/** How rules are said to people. */
final class Words {
  /** Longer values are cut in messages, so that no file can write a long log line. */
  private static final int MAX_SHOWN = 80;

  private Words() {}

  /** Returns what the rule allows: {@code 10 per minute}, {@code unlimited} or {@code no limit}. */
  static String limit(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return rule.unlimited() ? "unlimited" : "no limit";
    }
    return policy.quota().permits() + " per " + window(rule, policy);
  }

  private static String window(Rule rule, Policy policy) {
    RateLimitUnit unit = rule.unit();
    if (unit == null) {
      return DurationText.format(policy.quota().windowNanos());
    }
    String name = unit.name().toLowerCase(Locale.ROOT);
    return rule.unitMultiplier() == 1 ? name : rule.unitMultiplier() + " " + name + "s";
  }

  /** Returns the text on one line, without control characters, cut if it is long. */
  static String shown(String text) {
    StringBuilder shown = new StringBuilder();
    int end = Math.min(text.length(), MAX_SHOWN);
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      if (Character.isISOControl(c)) {
        shown.append(String.format("\\u%04x", (int) c));
      } else {
        shown.append(c);
      }
    }
    return end < text.length() ? shown + "..." : shown.toString();
  }

  /** Returns {@code "text"}, as {@link #shown} would have it. */
  static String quoted(String text) {
    return '"' + shown(text) + '"';
  }

  /** Returns the number as people read it: {@code 1,000}. */
  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
