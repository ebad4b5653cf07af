package dev.weir.engine.internal.matching;

import dev.weir.rules.Descriptor;
import dev.weir.rules.MatchBudget;
import dev.weir.rules.Request;
import dev.weir.rules.Rule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The search for the rules of a request, within the {@link MatchBudget} of its call. A request that
 * comes outside of a call is one by itself.
 */
final class RuleFinder {
  private RuleFinder() {}

  /**
   * Adds the descriptors of a request with their rules to a pending request.
   *
   * @return false if that took more comparisons with wildcards than a call may cost
   */
  static boolean addRules(PendingRequest pending, Request request, Revision revision) {
    if (!revision.rules.hasPatterns()) {
      addAll(pending, request, revision);
      return true;
    }
    MatchBudget budget = MatchBudget.ofThread();
    boolean isCall = !budget.isInCall();
    if (isCall) {
      budget.begin();
    }
    try {
      addAll(pending, request, revision);
      return !budget.isSpent();
    } finally {
      if (isCall) {
        budget.end();
      }
    }
  }

  private static void addAll(PendingRequest pending, Request request, Revision revision) {
    String domain = request.domain();
    List<Descriptor> descriptors = request.descriptors();
    boolean matched = false;
    for (int i = 0; i < descriptors.size(); i++) {
      Descriptor descriptor = descriptors.get(i);
      Rule rule =
          descriptor.limitOverride() == null
              ? revision.rules.match(domain, descriptor.entries())
              : null;
      matched |= rule != null;
      pending.add(descriptor, rule == null ? null : revision.of(rule));
    }
    pending.domainKnown(matched || revision.rules.hasDomain(domain));
  }

  /**
   * Returns the rule of a request of one descriptor, which is a call of its own; null if there is
   * none, or if it took too many comparisons to find it.
   */
  static @Nullable Rule rule(String domain, String[] keysAndValues, int count, Revision revision) {
    if (!revision.rules.hasPatterns()) {
      return revision.rules.match(domain, keysAndValues, count);
    }
    MatchBudget budget = MatchBudget.ofThread();
    budget.begin();
    try {
      Rule rule = revision.rules.match(domain, keysAndValues, count);
      return budget.isSpent() ? null : rule;
    } finally {
      budget.end();
    }
  }
}
