package dev.weir.rules;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads rule files. Safe for use by several threads. */
public final class Rules {
  private Rules() {}

  /**
   * The result of reading rule files.
   *
   * @param ruleSet the rules, or null if there is any error
   * @param problems every problem found, in the order of files and lines
   */
  public record Loaded(@Nullable RuleSet ruleSet, List<Problem> problems) {
    public Loaded {
      problems = List.copyOf(problems);
    }
  }

  /**
   * Reads files, and of folders the files {@code *.yaml} and {@code *.yml} that are not hidden, in
   * the order of their names, without going into folders below. Never throws for what a file holds
   * or for one that cannot be read: both are problems.
   */
  public static Loaded load(List<Path> paths) {
    return load(paths, RuleDefaults.DENY);
  }

  /** As {@link #load(List)}, where rules that do not say something are as the defaults say. */
  public static Loaded load(List<Path> paths, RuleDefaults defaults) {
    return RuleFiles.read(paths).parse(defaults);
  }

  /**
   * Reads one text.
   *
   * @param file the name shown in positions
   */
  public static Loaded parse(String file, String text) {
    return parse(file, text, RuleDefaults.DENY);
  }

  /**
   * As {@link #parse(String, String)}, where rules that do not say something are as the defaults
   * say.
   */
  public static Loaded parse(String file, String text, RuleDefaults defaults) {
    return RuleFiles.ofText(file, text).parse(defaults);
  }

  /**
   * As {@link #parse(String, String)}, for the bytes of a file: they must be UTF-8, and at most 1
   * MiB.
   */
  public static Loaded parse(String file, byte[] content) {
    return RuleFiles.ofContent(file, content).parse(RuleDefaults.DENY);
  }

  /**
   * Reads several texts, as {@link #load} reads the files of a folder: in the order of their names.
   *
   * @param texts by the name shown in positions
   */
  public static Loaded parse(Map<String, String> texts, RuleDefaults defaults) {
    return RuleFiles.ofTexts(texts).parse(defaults);
  }

  /** As {@link #parse(Map, RuleDefaults)}, where rules that do not say something deny. */
  public static Loaded parse(Map<String, String> texts) {
    return parse(texts, RuleDefaults.DENY);
  }

  /**
   * Returns whether a folder of rules is read with this file in it: {@code *.yaml} and {@code
   * *.yml} are, hidden files and folders are not.
   */
  public static boolean isRuleFile(Path path) {
    return RuleFiles.isRuleFile(path);
  }
}
