package dev.weir.cli.imports;

import dev.weir.rules.Problem;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The rules made of a configuration of another limiter, and the remarks on its parts of which no
 * rule was made. Not safe for use by several threads.
 */
final class ImportedRules {
  private static final int WIDTH = 110;

  /** The texts that YAML reads as they are, without quotes. */
  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]*");

  private final String original;
  private final String title;
  private final List<ImportedRule> rules = new ArrayList<>();
  private final List<String> remarks = new ArrayList<>();
  private final Map<String, Integer> keys = new TreeMap<>();

  /**
   * Creates the rules.
   *
   * @param original the name of the other limiter
   * @param title the files that were read
   */
  ImportedRules(String original, String title) {
    this.original = original;
    this.title = title;
  }

  /** Returns a name that no rule has yet, made of the given one. */
  String unusedKey(String name) {
    int uses = keys.merge(name, 1, Integer::sum);
    return uses == 1 ? name : unusedKey(name + "-" + uses);
  }

  /** Adds a rule; a remark instead, if its numbers are beyond those of a rule. */
  void add(ImportedRule rule) {
    StringBuilder alone = new StringBuilder("domain: imported\ndescriptors:\n");
    append(alone, rule);
    Optional<Problem> problem =
        Rules.parse("rule", alone.toString()).problems().stream()
            .filter(each -> each.severity() == Severity.ERROR)
            .findFirst();
    if (problem.isEmpty()) {
      rules.add(rule);
    } else {
      remarks.add(rule.comments().get(0) + ": no rule is made of it: " + problem.get().message());
    }
  }

  /** Records a part of which no rule was made. */
  void remark(SourcePlace place, String text) {
    remarks.add(place + ": " + text);
  }

  /** Returns the parts of which no rule was made, each with its place. */
  List<String> remarks() {
    return remarks;
  }

  int size() {
    return rules.size();
  }

  /** Returns whether there is a rule for each limit, and each rule has all of it. */
  boolean isComplete() {
    return remarks.isEmpty() && rules.stream().allMatch(ImportedRule::isCarriedOver);
  }

  /** Returns the text of a rule file. */
  String text(String domain) {
    StringBuilder text = new StringBuilder();
    comment(text, "", "Limits of " + original + ", from " + title + ".");
    for (String remark : remarks) {
      comment(text, "", remark);
    }
    text.append("domain: ").append(quoted(domain)).append('\n');
    text.append(rules.isEmpty() ? "descriptors: []\n" : "descriptors:\n");
    for (ImportedRule rule : rules) {
      for (String comment : rule.comments()) {
        comment(text, "  ", comment);
      }
      append(text, rule);
    }
    return text.toString();
  }

  private static void append(StringBuilder text, ImportedRule rule) {
    String indent = "  ";
    for (ImportedRule.Level level : rule.levels()) {
      if (!indent.equals("  ")) {
        text.append(indent.substring(2)).append("descriptors:\n");
      }
      text.append(indent).append("- key: ").append(quoted(level.key())).append('\n');
      indent += "  ";
      if (level.value() != null) {
        text.append(indent).append("value: ").append(quoted(level.value())).append('\n');
      }
      indent += "  ";
    }
    String inner = indent.substring(2);
    if (rule.isShadow()) {
      text.append(inner).append("shadow_mode: true\n");
    }
    text.append(inner).append("rate_limit:\n");
    for (String field : rule.fields()) {
      text.append(indent).append(field).append('\n');
    }
  }

  private static String quoted(String text) {
    return PLAIN.matcher(text).matches()
        ? text
        : '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  /** Adds a comment, in lines that are not too long. A control character becomes a space. */
  private static void comment(StringBuilder text, String indent, String comment) {
    StringBuilder line = new StringBuilder(indent).append('#');
    for (String word : comment.replaceAll("\\p{Cntrl}", " ").split(" +", -1)) {
      if (line.length() + 1 + word.length() > WIDTH && line.length() > indent.length() + 1) {
        text.append(line).append('\n');
        line = new StringBuilder(indent).append("#  ");
      }
      line.append(' ').append(word);
    }
    text.append(line).append('\n');
  }
}
