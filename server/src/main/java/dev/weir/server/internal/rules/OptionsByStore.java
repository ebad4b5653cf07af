package dev.weir.server.internal.rules;

import dev.weir.FullMode;
import dev.weir.Policy;
import dev.weir.internal.Choice;
import dev.weir.rules.Problem;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Severity;
import dev.weir.rules.StoreChoice;
import dev.weir.rules.ValueErrors;
import java.util.ArrayList;
import java.util.List;

/**
 * The options of rules that have no effect in the store that a server counts them in. A rule file
 * does not show this if the rule takes the server's default.
 */
final class OptionsByStore {
  private static final String EXPECTED =
      "none where the server's default store is shared: it bounds only the keys that this process"
          + " counts, as with store: local";

  private OptionsByStore() {}

  /** Returns the warnings for the rules that take the default of a server with a shared store. */
  static List<Problem> warnings(RuleSet rules) {
    List<Problem> warnings = new ArrayList<>();
    for (Rule rule : rules.rules()) {
      Policy policy = rule.policy();
      if (policy == null || rule.store() != StoreChoice.DEFAULT) {
        continue;
      }
      if (policy.maxKeys() != Long.MAX_VALUE) {
        warnings.add(warning(rule, "max_keys", policy.maxKeys()));
      }
      if (policy.whenFull() != FullMode.DENY) {
        warnings.add(warning(rule, "when_full", Choice.text(policy.whenFull())));
      }
    }
    return warnings;
  }

  private static Problem warning(Rule rule, String option, Object value) {
    return new Problem(
        Severity.WARNING,
        rule.position(),
        rule.path() + ": " + ValueErrors.line(option, value, EXPECTED));
  }
}
