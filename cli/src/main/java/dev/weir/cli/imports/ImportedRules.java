package dev.weir.cli.imports;

import dev.weir.rules.Problem;
import dev.weir.rules.Rules;
import dev.weir.rules.Severity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
  private final Branch rules = new Branch();
  private final List<String> remarks = new ArrayList<>();
  private final Map<String, Integer> keys = new TreeMap<>();
  private int size;
  private boolean complete = true;

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

  /**
   * Adds a rule; a remark instead, if its numbers are beyond those of a rule, or if there is a rule
   * of the same descriptor.
   */
  void add(ImportedRule rule) {
    Branch alone = new Branch();
    alone.add(rule);
    StringBuilder text = new StringBuilder("domain: imported\ndescriptors:\n");
    alone.append(text, "  ");
    Optional<Problem> problem =
        Rules.parse("rule", text.toString()).problems().stream()
            .filter(each -> each.severity() == Severity.ERROR)
            .findFirst();
    if (problem.isPresent()) {
      remarks.add(rule.comments().get(0) + ": no rule is made of it: " + problem.get().message());
    } else if (rules.add(rule)) {
      size++;
      complete &= rule.isCarriedOver();
    } else {
      remarks.add(
          rule.comments().get(0)
              + ": no rule is made of it, since there is one of the same descriptor, "
              + rule.descriptor());
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
    return size;
  }

  /** Returns whether there is a rule for each limit, and each rule has all of it. */
  boolean isComplete() {
    return remarks.isEmpty() && complete;
  }

  /** Returns the text of a rule file. */
  String text(String domain) {
    StringBuilder text = new StringBuilder();
    comment(text, "", "Limits of " + original + ", from " + title + ".");
    for (String remark : remarks) {
      comment(text, "", remark);
    }
    text.append("domain: ").append(quoted(domain)).append('\n');
    text.append(size == 0 ? "descriptors: []\n" : "descriptors:\n");
    rules.append(text, "  ");
    return text.toString();
  }

  /** The rules below a descriptor's entries; those with the same first entries are together. */
  private static final class Branch {
    private final Map<ImportedRule.Level, Branch> branches = new LinkedHashMap<>();
    private @Nullable ImportedRule rule;

    /** Adds a rule, unless there is one of the same descriptor; returns whether it was added. */
    boolean add(ImportedRule added) {
      Branch at = this;
      for (ImportedRule.Level level : added.levels()) {
        at = at.branches.computeIfAbsent(level, entry -> new Branch());
      }
      if (at.rule != null) {
        return false;
      }
      at.rule = added;
      return true;
    }

    void append(StringBuilder text, String indent) {
      branches.forEach((level, branch) -> branch.append(text, indent, level));
    }

    private void append(StringBuilder text, String indent, ImportedRule.Level level) {
      ImportedRule own = rule;
      if (own != null) {
        own.comments().forEach(each -> comment(text, indent, each));
      }
      text.append(indent).append("- key: ").append(quoted(level.key())).append('\n');
      String inner = indent + "  ";
      if (level.value() != null) {
        text.append(inner).append("value: ").append(quoted(level.value())).append('\n');
      }
      if (own != null) {
        text.append(inner).append(own.isShadow() ? "shadow_mode: true\n" + inner : "");
        text.append("rate_limit:\n");
        own.fields().forEach(each -> text.append(inner).append("  ").append(each).append('\n'));
      }
      if (!branches.isEmpty()) {
        text.append(inner).append("descriptors:\n");
        append(text, inner + "  ");
      }
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
