package dev.weir.rules.internal.parse;

import dev.weir.Algorithm;
import dev.weir.Consistency;
import dev.weir.FailureMode;
import dev.weir.Policy;
import dev.weir.internal.Choice;
import dev.weir.rules.CostMode;
import dev.weir.rules.DurationText;
import dev.weir.rules.PlanLimit;
import dev.weir.rules.QueueBounds;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Rule;
import dev.weir.rules.ShownText;
import dev.weir.rules.StoreChoice;
import java.math.BigDecimal;
import java.util.List;
import java.util.Locale;

/** Descriptions of rules for people. */
public final class Words {
  /** The most characters of a value in a message, so that no file can write a long log line. */
  private static final int MAX_SHOWN = 80;

  private Words() {}

  /** Returns the limit of a rule: {@code 10 per minute}, {@code unlimited} or {@code no limit}. */
  public static String limit(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return rule.unlimited() ? "unlimited" : "no limit";
    }
    return policy.algorithm() == Algorithm.CONCURRENCY
        ? "%d at once, hold %s"
            .formatted(policy.quota().permits(), DurationText.format(policy.quota().windowNanos()))
        : policy.quota().permits() + " per " + window(rule, policy);
  }

  private static String window(Rule rule, Policy policy) {
    RateLimitUnit unit = rule.unit();
    if (unit == null) {
      return DurationText.format(policy.quota().windowNanos());
    }
    String name = lower(unit);
    return rule.unitMultiplier() == 1 ? name : rule.unitMultiplier() + " " + name + "s";
  }

  /**
   * Returns the settings of a rule that are not the usual ones: its throttle, its store, and how it
   * is counted there.
   */
  public static String unusual(Rule rule) {
    Policy policy = rule.policy();
    if (policy == null) {
      return "";
    }
    StringBuilder words = new StringBuilder();
    if (!policy.throttle().isHard()) {
      words.append(", throttle ").append(throttle(policy));
    }
    words.append(queue(rule));
    if (rule.costs() != CostMode.BEFORE) {
      words.append(", costs ").append(lower(rule.costs()));
    }
    if (rule.byLevel() != SubjectFields.NONE) {
      words.append(", by ").append(by(rule));
    }
    if (rule.store() != StoreChoice.DEFAULT) {
      words.append(", store ").append(rule.store().text());
    }
    if (policy.sharing().consistency() != Consistency.STRICT) {
      words.append(", consistency ").append(consistency(policy));
    }
    if (policy.sharing().onFailure() != FailureMode.DENY) {
      words.append(", on_failure ").append(onFailure(policy));
    }
    return words.toString();
  }

  /** Returns the throttle; if it is soft, with the bound. */
  public static String throttle(Policy policy) {
    long bound = policy.enforced().quota().permits();
    return policy.throttle() + (bound > policy.quota().permits() ? " (with it " + bound + ")" : "");
  }

  /**
   * Returns the level whose limits come before the rule's own numbers, and what happens without
   * them.
   */
  public static String by(Rule rule) {
    return rule.byLevel() == SubjectFields.NONE
        ? "none"
        : "%s (unknown: %s)".formatted(shown(rule.keyAt(rule.byLevel())), lower(rule.unknown()));
  }

  /** Returns the limit of a plan for a rule: {@code 10 per minute} or {@code unlimited}. */
  public static String limit(Rule rule, PlanLimit limit) {
    Policy policy = limit.policy();
    return policy == null ? "unlimited" : policy.quota().permits() + " per " + window(rule, policy);
  }

  /** Returns the treatment of a request beyond the limit; if it waits, with the bounds. */
  public static String onLimit(Rule rule) {
    QueueBounds queue = rule.queue();
    return queue == null
        ? "drop"
        : "queue (requests %d, wait %s)"
            .formatted(queue.requests(), DurationText.format(queue.waitNanos()));
  }

  private static String queue(Rule rule) {
    QueueBounds queue = rule.queue();
    if (queue == null) {
      return "";
    }
    if (rule.shadowMode() || rule.quotaMode()) {
      return ", on_limit queue (without effect)";
    }
    return ", on_limit queue (a request beyond the limit waits up to %s, at most %s for one key)"
        .formatted(DurationText.format(queue.waitNanos()), count(queue.requests()));
  }

  /** Returns the consistency; if it has an interval, with that. */
  public static String consistency(Policy policy) {
    String name = policy.sharing().consistency().text();
    return policy.sharing().consistency() == Consistency.STRICT
        ? name
        : name
            + " (sync_interval "
            + DurationText.format(policy.sharing().syncIntervalNanos())
            + ")";
  }

  /** Returns the answer to a failure; if it has a share, with that. */
  public static String onFailure(Policy policy) {
    String name = lower(policy.sharing().onFailure());
    if (policy.sharing().onFailure() != FailureMode.LOCAL) {
      return name;
    }
    BigDecimal percent = BigDecimal.valueOf(policy.sharing().localShare()).movePointRight(2);
    return name + " (local_share " + percent.stripTrailingZeros().toPlainString() + "%)";
  }

  /** Returns the form of a constant in files. */
  public static String lower(Enum<?> constant) {
    return Choice.text(constant);
  }

  /** Returns the forms of constants in files: {@code deny, allow or local}. */
  static String alternatives(List<? extends Enum<?>> choices) {
    int last = choices.size() - 1;
    List<String> names = choices.stream().map(Words::lower).toList();
    return String.join(", ", names.subList(0, last)) + " or " + names.get(last);
  }

  /** Returns the text on one line, without control characters, cut if it is long. */
  public static String shown(String text) {
    return ShownText.plain(ShownText.cut(text, MAX_SHOWN));
  }

  /** Returns {@code "text"}, in the form of {@link #shown}. */
  public static String quoted(String text) {
    return '"' + shown(text) + '"';
  }

  /** Returns the number as people read it: {@code 1,000}. */
  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
