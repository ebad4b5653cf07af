package dev.weir.engine.internal.metrics;

import dev.weir.engine.RuleMetrics;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Rule;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The counters of one rule: one set for all callers, or one for each value if the rule is set so.
 * Values are kept up to a bound on their number and one on their characters, and later ones count
 * as {@code other}: a caller must not be able to fill the memory with labels.
 */
public final class RuleLabels {
  /** The most values for which one rule keeps counters. */
  public static final int MAX_VALUES = 500;

  /**
   * The most characters that the labels of one rule may have together: many times those of usual
   * ones.
   */
  public static final int MAX_CHARACTERS = 256 * MAX_VALUES;

  private final String path;
  private final RuleCounters all = new RuleCounters();
  private final ConcurrentHashMap<String, RuleCounters> byValue = new ConcurrentHashMap<>();
  private final AtomicInteger characters = new AtomicInteger();

  public RuleLabels(String path) {
    this.path = path;
  }

  /** Returns whether a rule has counters for each value. */
  public static boolean wanted(Rule rule) {
    boolean wanted = rule.detailedMetric();
    for (int i = 0; i < rule.levels(); i++) {
      wanted |= rule.valueToMetricAt(i);
    }
    return wanted;
  }

  /** Returns the counters that all values share. */
  public RuleCounters all() {
    return all;
  }

  /** Returns the counters of a descriptor's values. */
  public RuleCounters of(Rule rule, Descriptor descriptor) {
    String label = label(rule, descriptor);
    RuleCounters known = byValue.get(label);
    if (known != null) {
      return known;
    }
    String kept = byValue.size() < MAX_VALUES && fits(label) ? label : path + ".other";
    return byValue.computeIfAbsent(kept, name -> new RuleCounters());
  }

  /** Counts the characters of a label, if there is room for them. */
  private boolean fits(String label) {
    if (characters.addAndGet(label.length()) <= MAX_CHARACTERS) {
      return true;
    }
    characters.addAndGet(-label.length());
    return false;
  }

  private static String label(Rule rule, Descriptor descriptor) {
    StringBuilder label = new StringBuilder(rule.domain());
    int last = descriptor.entries().size() - 1;
    for (int i = 0; i <= last; i++) {
      Entry entry = descriptor.entries().get(i);
      boolean concrete = rule.detailedMetric() || rule.valueToMetricAt(i);
      String value = concrete && !rule.sharedAt(i) ? entry.value() : rule.patternAt(i);
      label.append('.').append(entry.key());
      if (!value.isEmpty()) {
        label.append('_').append(value);
      }
    }
    return label.toString();
  }

  /**
   * Reports the counters of the rule.
   *
   * @param policy the name in the rule's answers
   */
  public void report(String policy, Consumer<RuleMetrics> sink) {
    RuleMetrics whole = all.snapshot(path, policy);
    if (byValue.isEmpty() || whole.totalHits() != 0) { // Counted before it had labels.
      sink.accept(whole);
    }
    byValue.forEach((label, counters) -> sink.accept(counters.snapshot(label, policy)));
  }

  /** Returns the counts of all labels together, under the rule's own path. */
  public RuleMetrics total(String policy) {
    RuleMetrics sum = all.snapshot(path, policy);
    for (RuleCounters counters : byValue.values()) {
      sum = sum.plus(counters.snapshot(path, policy));
    }
    return sum;
  }
}
