package dev.weir.rules;

import dev.weir.Consistency;
import dev.weir.FailureAnswer;
import dev.weir.Policy;
import java.math.BigDecimal;
import java.util.List;
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
    String name = lower(unit);
    return rule.unitMultiplier() == 1 ? name : rule.unitMultiplier() + " " + name + "s";
  }

  /** Returns how the rule is held, where it is counted and how, as far as that is not as usual. */
  static String unusual(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return "";
    }
    StringBuilder words = new StringBuilder();
    if (!policy.throttle().isHard()) {
      words.append(", throttle ").append(throttle(policy));
    }
    if (rule.store() != StoreChoice.DEFAULT) {
      words.append(", store ").append(rule.store().text());
    }
    if (policy.consistency() != Consistency.STRICT) {
      words.append(", consistency ").append(consistency(policy));
    }
    if (policy.onFailure() != FailureAnswer.DENY) {
      words.append(", on_failure ").append(onFailure(policy));
    }
    return words.toString();
  }

  /** Returns the throttle, where it is soft with the bound. */
  static String throttle(Policy policy) {
    long bound = policy.enforced().quota().permits();
    return policy.throttle() + (bound > policy.quota().permits() ? " (with it " + bound + ")" : "");
  }

  /** Returns the consistency, where it has one with its interval. */
  static String consistency(Policy policy) {
    String name = policy.consistency().text();
    return policy.consistency() == Consistency.STRICT
        ? name
        : name + " (sync_interval " + DurationText.format(policy.syncIntervalNanos()) + ")";
  }

  /** Returns the answer to a failure, where it has one with its share. */
  static String onFailure(Policy policy) {
    String name = lower(policy.onFailure());
    if (policy.onFailure() != FailureAnswer.LOCAL) {
      return name;
    }
    BigDecimal percent = BigDecimal.valueOf(policy.localShare()).movePointRight(2);
    return name + " (local_share " + percent.stripTrailingZeros().toPlainString() + "%)";
  }

  /** Returns a constant as files write it. */
  static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the constants as files write them: {@code deny, allow or local}. */
  static String alternatives(List<? extends Enum<?>> choices) {
    int last = choices.size() - 1;
    List<String> names = choices.stream().map(Words::lower).toList();
    return String.join(", ", names.subList(0, last)) + " or " + names.get(last);
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
