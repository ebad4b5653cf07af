package dev.weir.engine.internal.matching;

import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.Status;
import dev.weir.engine.internal.metrics.RuleCounters;
import dev.weir.engine.internal.metrics.RuleLabels;
import dev.weir.rules.CostMode;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rule in force, with everything that is the same for all requests: its binding, its limit in
 * answers, its counters, and the part of its fingerprint that all its keys have in common.
 * Immutable, except for the counters.
 */
public final class BoundRule {
  public final Rule rule;

  /** The binding, or null if the rule has no policy. */
  final @Nullable Binding binding;

  /** The rule's own limit in answers, or null if the rule has none. */
  final @Nullable CurrentLimit currentLimit;

  /** The numbers of subjects, or null if the rule has one for all. */
  final @Nullable RuleNumbers numbers;

  /** The answer to every descriptor that matches, if the rule has no limit. */
  final Status withoutLimit;

  /** True if the store that counts decides on the caller's thread. */
  final boolean local;

  /**
   * The plain form of the rule; null if a charge alone does not decide a request of one descriptor
   * that matches.
   */
  final @Nullable PlainRule plain;

  private final RuleCounters counters;
  private final @Nullable RuleLabels byValue;

  private final Fingerprint fingerprint;

  /** The fingerprint of all entries before {@link #firstOpen}, with that entry's key. */
  private final long prefix;

  /** The first level at which keys differ, or the number of levels if there is only one key. */
  private final int firstOpen;

  /**
   * Creates a bound rule.
   *
   * @param revision the number of the rule set for which it is bound
   */
  BoundRule(
      Rule rule,
      long revision,
      @Nullable Binding binding,
      @Nullable CurrentLimit currentLimit,
      @Nullable RuleNumbers numbers,
      boolean local,
      RuleLabels labels,
      Fingerprint fingerprint) {
    this.rule = rule;
    this.binding = binding;
    this.currentLimit = currentLimit;
    this.numbers = numbers;
    this.local = local;
    this.fingerprint = fingerprint;
    counters = labels.all();
    byValue = RuleLabels.wanted(rule) ? labels : null;
    withoutLimit = Status.withoutLimit(rule);
    plain =
        binding != null
                && currentLimit != null
                && numbers == null
                && local
                && byValue == null
                && !rule.shadowMode()
                && rule.costs() == CostMode.BEFORE
                && rule.replaces().isEmpty()
                && currentLimit.policy().enforced() == currentLimit.policy()
            ? new PlainRule(rule, currentLimit, binding.policy(), revision)
            : null;
    long known = 0;
    int level = 0;
    for (; level < rule.levels(); level++) {
      known = fingerprint.add(known, rule.keyAt(level));
      if (!rule.oneCounterAt(level)) {
        break;
      }
      known = fingerprint.add(known, rule.patternAt(level));
    }
    prefix = known;
    firstOpen = level;
  }

  /**
   * Returns the fingerprint of the key for which a descriptor counts: of all its entries, each a
   * key and a value; the value of a shared level is its pattern.
   *
   * @param entries the entries of a descriptor that the rule matches
   */
  long fingerprint(List<Entry> entries) {
    if (firstOpen == entries.size()) {
      return prefix;
    }
    long key = fingerprint.add(prefix, entries.get(firstOpen).value());
    for (int i = firstOpen + 1; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      String value = rule.sharedAt(i) ? rule.patternAt(i) : entry.value();
      key = fingerprint.add(fingerprint.add(key, entry.key()), value);
    }
    return key;
  }

  /**
   * Returns the fingerprint like {@link #fingerprint(List)}, for entries that are texts: each key
   * with its value behind it.
   *
   * @param count how many of the texts there are
   */
  long fingerprint(String[] keysAndValues, int count) {
    if (firstOpen == count / 2) {
      return prefix;
    }
    long key = fingerprint.add(prefix, keysAndValues[2 * firstOpen + 1]);
    for (int i = firstOpen + 1; i < count / 2; i++) {
      String value = rule.sharedAt(i) ? rule.patternAt(i) : keysAndValues[2 * i + 1];
      key = fingerprint.add(fingerprint.add(key, keysAndValues[2 * i]), value);
    }
    return key;
  }

  /** Returns the counters that all descriptors share, for a rule that is {@link #plain}. */
  RuleCounters counters() {
    return counters;
  }

  /** Returns the counters of a descriptor that the rule matches. */
  RuleCounters counters(Descriptor descriptor) {
    return byValue == null ? counters : byValue.of(rule, descriptor);
  }
}
