package dev.weir.admin.internal.limits;

import dev.weir.Policy;
import dev.weir.config.OwnLimit;
import dev.weir.config.SubjectRecord;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The parts of a record that do not match the rules in force. They are not errors: rules and
 * records change one after the other, and until they match, the rule's own number counts.
 */
public final class RecordProblems {
  private RecordProblems() {}

  public static List<String> of(SubjectRecord record, RuleSet rules) {
    List<String> problems = new ArrayList<>();
    String domain = record.subject().domain();
    if (!rules.hasDomain(domain)) {
      problems.add(ShownText.wrong("domain", domain, "one of the rules in force"));
      return problems;
    }
    if (!record.plan().isEmpty() && !rules.plans(domain).contains(record.plan())) {
      problems.add(
          ShownText.wrong("plan", record.plan(), "one of domain " + ShownText.brief(domain)));
    }
    for (OwnLimit limit : record.limits()) {
      problem(record, limit, rules, problems);
    }
    return problems;
  }

  private static void problem(
      SubjectRecord record, OwnLimit limit, RuleSet rules, List<String> problems) {
    boolean named = false;
    boolean counts = false;
    boolean window = true;
    for (Rule rule : rules.rules()) {
      Policy policy = rule.policy();
      if (policy != null
          && rule.domain().equals(record.subject().domain())
          && policy.name().equals(limit.rule())) {
        named = true;
        boolean by =
            rule.byLevel() >= 0 && rule.keyAt(rule.byLevel()).equals(record.subject().key());
        counts |= by;
        Duration own = limit.window();
        window &= own == null || own.toNanos() == policy.quota().windowNanos();
      }
    }
    if (!named) {
      problems.add(ShownText.wrong("rule", limit.rule(), "the name of a rule in force"));
    } else if (!counts) {
      problems.add(
          ShownText.wrong(
              "rule", limit.rule(), "a rule with by: " + ShownText.brief(record.subject().key())));
    } else if (!window) {
      problems.add(
          ShownText.wrong("window", limit.rule(), "the rule's own window; another is not counted"));
    }
  }
}
