package dev.weir.rules.internal.parse;

import dev.weir.identity.AddressRanges;
import dev.weir.rules.Position;
import dev.weir.rules.Rule;
import dev.weir.rules.RuleDefaults;
import dev.weir.rules.internal.parse.YamlNode.Mapping;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A parser that makes rules of the nodes of one file. Used by one thread, once. */
public final class RuleParser {
  /**
   * The most levels, more than a descriptor has entries in practice; keeps paths and recursion
   * short.
   */
  public static final int MAX_LEVELS = 32;

  /**
   * The most characters of a domain, a key, a value and a name: as many as a header line can bear.
   */
  public static final int MAX_TEXT = 1_024;

  private final String file;
  private final Problems problems;
  private final RuleTree tree;
  private final RateLimitParser rateLimits;
  private final PlanParser plans;

  /** Rules without a limit, and without descriptors. */
  private final Set<Rule> bare = new HashSet<>();

  public RuleParser(String file, Problems problems, RuleTree tree, RuleDefaults defaults) {
    this.file = file;
    this.problems = problems;
    this.tree = tree;
    rateLimits = new RateLimitParser(file, problems, tree, defaults);
    plans = new PlanParser(file, problems, tree.plans());
  }

  /** Adds the rules of a file to the tree, or reports why they cannot be added. */
  public void parse(YamlNode document) {
    if (!(document instanceof Mapping mapping)) {
      problems.error(
          new Position(file, document.line(), document.column()),
          "file: " + document.kind() + " (expected: a map of domain and descriptors)");
      return;
    }
    Fields fields = new Fields(file, mapping, Place.FILE, problems);
    String domain = fields.text("domain", MAX_TEXT);
    if (domain.isEmpty() && !fields.hasValue("domain")) {
      fields.error("domain", "a text");
    } else if (domain.isEmpty() && fields.shown("domain").equals("\"\"")) {
      fields.error("domain", "a text that is not empty");
    }
    plans.parse(fields, domain);
    if (!fields.hasValue("descriptors")
        || (fields.isEmptyList("descriptors") && !fields.has("plans"))) {
      fields.warning("descriptors", "a list; without it the domain limits nothing");
    }
    Map<String, RuleTree.Sibling> siblings =
        domain.isEmpty() ? new HashMap<>() : tree.siblings(domain);
    List<Rule> rules = new ArrayList<>();
    for (YamlNode item : fields.list("descriptors")) {
      Rule rule = descriptor(fields, item, domain, null, siblings);
      if (rule != null) {
        rules.add(rule);
      }
    }
    Hints.nothingLimited(rules, bare, problems);
    if (!domain.isEmpty()) {
      tree.add(domain, rules);
    }
  }

  private @Nullable Rule descriptor(
      Fields parentFields,
      YamlNode item,
      String domain,
      @Nullable RuleDraft parent,
      Map<String, RuleTree.Sibling> siblings) {
    Mapping mapping = parentFields.item("descriptors", item);
    if (mapping == null || !tree.count(parentFields.position(item))) {
      return null;
    }
    Fields fields = new Fields(file, mapping, Place.DESCRIPTOR, problems);
    String key = fields.text("key", MAX_TEXT);
    if (key.isEmpty()) {
      requireKey(fields);
    } else if (Wildcard.isPattern(key)) {
      // The original matches patterns against key and value together.
      fields.error("key", "a text without *; only a value can be a pattern");
    }
    String value = fields.text("value", MAX_TEXT);
    if (fields.isBlank("value")) {
      fields.warning("value", "a text; without it the rule takes every value");
    }
    RuleDraft draft =
        parent == null
            ? new RuleDraft(fields.position(), domain, key, value)
            : parent.child(fields.position(), key, value);
    if (!key.isEmpty()) {
      checkUnique(new RuleTree.Sibling(key, value, draft.position), siblings);
    }
    Hints.entry(fields, key, value);
    options(fields, draft);
    rateLimit(fields, draft);
    tree.weigh(draft);
    children(fields, draft);
    Rule rule = new Rule(draft);
    if (!fields.has("rate_limit")
        && !fields.has("descriptors")
        && !draft.shadowMode
        && !draft.quotaMode) {
      bare.add(rule);
    }
    return rule;
  }

  private static void requireKey(Fields fields) {
    if (isEmptyText(fields, "key")) {
      fields.error("key", "a text that is not empty");
    }
  }

  /**
   * Returns whether the key is missing, or has no value or the empty text; other errors are
   * reported elsewhere.
   */
  private static boolean isEmptyText(Fields fields, String key) {
    return !fields.hasValue(key) || fields.shown(key).equals("\"\"");
  }

  private void checkUnique(RuleTree.Sibling sibling, Map<String, RuleTree.Sibling> siblings) {
    String composite = RuleDraft.compositeKey(sibling.key(), sibling.value());
    RuleTree.Sibling first = siblings.putIfAbsent(composite, sibling);
    if (first == null) {
      return;
    }
    String name = "descriptor " + Words.quoted(composite);
    String of = reference(first.position());
    boolean same = first.key().equals(sibling.key()) && first.value().equals(sibling.value());
    problems.error(
        sibling.position(),
        same
            ? name + ": duplicate of " + of + " (expected: unique key and value per level)"
            : name
                + ": reads like the other key and value of "
                + of
                + " (expected: unique key_value per level)");
  }

  private String reference(Position position) {
    return position.file().equals(file) ? "line " + position.line() : position.toString();
  }

  private void options(Fields fields, RuleDraft draft) {
    int level = draft.level();
    draft.shadowMode = fields.flag("shadow_mode");
    draft.quotaMode = fields.flag("quota_mode");
    draft.detailedMetric = fields.flag("detailed_metric");
    draft.valueToMetric[level] = fields.flag("value_to_metric");
    draft.shared[level] = fields.flag("share_threshold");
    boolean several = Wildcard.isPattern(draft.value) || AddressRanges.isRange(draft.value);
    if (draft.shared[level] && !several) {
      fields.error("share_threshold", "only beside a value with a *, or a range of addresses");
    }
    Mapping metadata = fields.map("metadata");
    if (metadata != null) {
      draft.metadata = new MetadataReader(file, problems).map(metadata);
    }
  }

  private void rateLimit(Fields fields, RuleDraft draft) {
    Mapping limit = fields.map("rate_limit");
    if (limit != null) {
      rateLimits.parse(limit, draft);
      return;
    }
    if (fields.isBlank("rate_limit")) {
      fields.warning("rate_limit", "a map; without it nothing is limited here");
    }
    if (draft.shadowMode && !fields.has("rate_limit")) {
      fields.warning("shadow_mode", "only beside rate_limit, it has no effect here");
    }
    if (draft.quotaMode && !fields.has("rate_limit")) {
      fields.warning("quota_mode", "only beside rate_limit, it has no effect here");
    }
  }

  private void children(Fields fields, RuleDraft draft) {
    List<YamlNode> items = fields.list("descriptors");
    if (items.isEmpty()) {
      return;
    }
    if (draft.level() + 1 >= MAX_LEVELS) {
      fields.error("descriptors", "at most " + MAX_LEVELS + " levels of descriptors");
      return;
    }
    Map<String, RuleTree.Sibling> siblings = new HashMap<>();
    List<Rule> rules = new ArrayList<>();
    for (YamlNode item : items) {
      Rule rule = descriptor(fields, item, draft.domain, draft, siblings);
      if (rule != null) {
        rules.add(rule);
      }
    }
    Hints.nothingLimited(rules, bare, problems);
    draft.children = Level.of(rules);
  }
}
