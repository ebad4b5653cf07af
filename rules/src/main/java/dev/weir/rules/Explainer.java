package dev.weir.rules;

import dev.weir.Policy;
import dev.weir.identity.AddressRanges;
import dev.weir.rules.internal.parse.Level;
import dev.weir.rules.internal.parse.SubjectFields;
import dev.weir.rules.internal.parse.Wildcard;
import dev.weir.rules.internal.parse.Words;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A walk through the rule tree that takes the steps of {@link RuleSet#match} and records them. */
final class Explainer {
  /** The most siblings with another value that are listed; the rest are counted. */
  private static final int MAX_OTHERS = 10;

  /** The most entries whose orders are tried: 720 orders. */
  private static final int MOST_REORDERED = 6;

  private final List<Explanation.Step> steps = new ArrayList<>();

  private Explainer() {}

  static Explanation explain(RuleSet rules, String domain, List<Entry> entries) {
    return new Explainer().walk(rules, domain, entries);
  }

  private Explanation walk(RuleSet rules, String domain, List<Entry> entries) {
    Level level = rules.firstLevel(domain);
    if (level == null) {
      String hint = DidYouMean.of(domain, rules.domains());
      return none(domain, entries, "domain " + Words.quoted(domain) + " is unknown" + hint);
    }
    if (entries.isEmpty()) {
      return none(domain, entries, "the descriptor has no entries");
    }
    Rule node = null;
    for (Entry entry : entries) {
      if (node != null && level.rules().isEmpty()) {
        return none(domain, entries, tooDeep(node, entries));
      }
      node = step(level, entry);
      if (node == null) {
        String hint = otherOrder(rules, domain, entries);
        return none(domain, entries, "nothing on level " + steps.size() + " matches" + hint);
      }
      level = node.children();
    }
    return arrived(rules, domain, entries, node);
  }

  /**
   * Returns an order of its entries in which the descriptor would be limited; empty if there is
   * none.
   */
  private static String otherOrder(RuleSet rules, String domain, List<Entry> entries) {
    if (entries.size() < 2 || entries.size() > MOST_REORDERED) {
      return "";
    }
    List<Entry> order = ordered(rules.firstLevel(domain), entries);
    return order.isEmpty()
        ? ""
        : "; in the order %s it would be limited"
            .formatted(order.stream().map(Entry::key).collect(Collectors.joining(", ")));
  }

  /** Returns the entries in an order that leads to a limit, or nothing. */
  private static List<Entry> ordered(@Nullable Level level, List<Entry> entries) {
    for (int i = 0; level != null && i < entries.size(); i++) {
      Rule rule = level.find(entries.get(i).key(), entries.get(i).value());
      if (rule != null) {
        List<Entry> rest = new ArrayList<>(entries);
        Entry first = rest.remove(i);
        List<Entry> behind = rest.isEmpty() ? rest : ordered(rule.children(), rest);
        if (rest.isEmpty() ? rule.limits() : !behind.isEmpty()) {
          List<Entry> order = new ArrayList<>(List.of(first));
          order.addAll(behind);
          return order;
        }
      }
    }
    return List.of();
  }

  private static String tooDeep(Rule node, List<Entry> entries) {
    return node.path()
        + " has no descriptors below it, and the request has "
        + entries.size()
        + " entries"
        + (node.limits()
            ? "; its rate_limit applies to requests of " + node.levels() + " only"
            : "");
  }

  private Explanation arrived(
      RuleSet rules, String domain, List<Entry> entries, @Nullable Rule node) {
    if (node == null || !node.limits()) {
      return none(domain, entries, (node == null ? domain : node.path()) + " has no rate_limit");
    }
    String mode =
        node.shadowMode() ? ", in shadow mode" : node.quotaMode() ? ", in quota mode" : "";
    Policy policy = node.policy();
    String verdict =
        "decided by %s (%s): %s%s%s%s"
            .formatted(
                node.path(),
                node.position(),
                Words.limit(node),
                policy == null ? "" : ", " + policy.algorithm() + Words.unusual(node),
                mode,
                node.byLevel() == SubjectFields.NONE ? "" : subject(rules, entries, node));
    return new Explanation(domain, entries, node, verdict, steps);
  }

  /**
   * Returns a text about the limits of the subject, which come first, and their possible values.
   */
  private static String subject(RuleSet rules, List<Entry> entries, Rule rule) {
    Entry subject = entries.get(rule.byLevel());
    List<String> plans = new ArrayList<>();
    rules
        .planLimits(rule)
        .forEach((plan, limit) -> plans.add(Words.shown(plan) + " " + Words.limit(rule, limit)));
    int more = plans.size() - MAX_OTHERS;
    return "; if %s %s has a limit of its own for %s, by that, else by its plan (%s%s)"
        .formatted(
            Words.shown(subject.key()),
            Words.quoted(subject.value()),
            Words.shown(rule.name().isEmpty() ? rule.path() : rule.name()),
            plans.isEmpty()
                ? "no plan names this rule"
                : String.join(", ", plans.subList(0, Math.min(plans.size(), MAX_OTHERS))),
            more > 0 ? " and " + Words.count(more) + " more" : "");
  }

  private Explanation none(String domain, List<Entry> entries, String why) {
    return new Explanation(domain, entries, null, "no limit: " + why, steps);
  }

  private @Nullable Rule step(Level level, Entry entry) {
    Rule chosen = level.find(entry.key(), entry.value());
    List<Rule> siblings = level.withKey(entry.key());
    List<Explanation.Candidate> candidates = new ArrayList<>();
    int others = 0;
    for (Rule rule : inPrecedence(siblings, entry.value())) {
      boolean differs = isExact(rule) && rule != chosen;
      if (!differs || others++ < MAX_OTHERS) {
        candidates.add(candidate(rule, chosen, entry));
      }
    }
    String note = "";
    if (siblings.isEmpty()) {
      note = "no rule here has the key " + Words.quoted(entry.key());
      note += DidYouMean.of(entry.key(), level.keys());
    } else if (others > MAX_OTHERS) {
      note = "and " + Words.count(others - MAX_OTHERS) + " other values of " + entry.key();
    }
    steps.add(new Explanation.Step(entry, candidates, note));
    return chosen;
  }

  private static List<Rule> inPrecedence(List<Rule> siblings, String value) {
    List<Rule> sorted = new ArrayList<>();
    siblings.stream()
        .filter(rule -> !value.isEmpty() && rule.value().equals(value))
        .forEach(sorted::add);
    siblings.stream()
        .filter(rule -> isRange(rule) && !rule.value().equals(value))
        .forEach(sorted::add);
    siblings.stream()
        .filter(rule -> Wildcard.isPattern(rule.value()) && !rule.value().equals(value))
        .forEach(sorted::add);
    siblings.stream().filter(rule -> rule.value().isEmpty()).forEach(sorted::add);
    siblings.stream()
        .filter(rule -> isExact(rule) && !rule.value().equals(value))
        .forEach(sorted::add);
    return sorted;
  }

  private static Explanation.Candidate candidate(Rule rule, @Nullable Rule chosen, Entry entry) {
    boolean taken = rule == chosen;
    String why;
    boolean sameText = rule.value().equals(entry.value());
    if (isExact(rule) || (taken && sameText && !rule.value().isEmpty())) {
      why = taken ? "has exactly this value" : "has another value";
    } else if (isRange(rule)) {
      boolean inside = AddressRanges.of(Map.of(rule.value(), rule)).find(entry.value()) != null;
      why =
          taken
              ? "smallest range with this address"
              : inside
                  ? "range with this address, but " + first(chosen, entry)
                  : "range without it";
    } else if (rule.value().isEmpty()) {
      why =
          taken
              ? "has this key and takes every value"
              : "takes every value, but " + first(chosen, entry);
    } else if (!Wildcard.matches(rule.value(), entry.value())) {
      why = "pattern does not match";
    } else {
      why = taken ? "first pattern that matches" : "pattern matches, but " + first(chosen, entry);
    }
    return new Explanation.Candidate(rule, taken, why);
  }

  private static String first(@Nullable Rule chosen, Entry entry) {
    if (chosen != null && chosen.value().equals(entry.value())) {
      return "an exact value comes first";
    }
    return chosen != null && isRange(chosen)
        ? "a smaller range comes first"
        : "an earlier pattern comes first";
  }

  private static boolean isExact(Rule rule) {
    return !rule.value().isEmpty() && !Wildcard.isPattern(rule.value()) && !isRange(rule);
  }

  private static boolean isRange(Rule rule) {
    return !Wildcard.isPattern(rule.value()) && AddressRanges.isRange(rule.value());
  }
}
