package dev.weir.rules;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A reader of rule files. Safe for use by several threads. */
public final class Rules {
  private Rules() {}

  /**
   * The result of reading rule files.
   *
   * @param ruleSet the rules, or null if there is any error
   * @param problems every problem found, in the order of files and lines
   */
  public record LoadResult(@Nullable RuleSet ruleSet, List<Problem> problems) {
    public LoadResult {
      problems = List.copyOf(problems);
    }
  }

  /**
   * Reads files, and from folders the files {@code *.yaml} and {@code *.yml} that are not hidden,
   * in the order of their names, but not from folders below them. Never throws because of a file's
   * content or of a file that cannot be read: both are problems.
   */
  public static LoadResult load(List<Path> paths) {
    return load(paths, RuleDefaults.DENY);
  }

  /** Reads files like {@link #load(List)}, with defaults for settings that rules do not set. */
  public static LoadResult load(List<Path> paths, RuleDefaults defaults) {
    return RuleFiles.read(paths).parse(defaults);
  }

  /**
   * Reads one text.
   *
   * @param file the name shown in positions
   */
  public static LoadResult parse(String file, String text) {
    return parse(file, text, RuleDefaults.DENY);
  }

  /**
   * Reads one text like {@link #parse(String, String)}, with defaults for settings that rules do
   * not set.
   */
  public static LoadResult parse(String file, String text, RuleDefaults defaults) {
    return RuleFiles.ofText(file, text).parse(defaults);
  }

  /**
   * Reads the bytes of a file like {@link #parse(String, String)}: they must be UTF-8, and at most
   * 1 MiB.
   */
  public static LoadResult parse(String file, byte[] content) {
    return RuleFiles.ofContent(file, content).parse(RuleDefaults.DENY);
  }

  /**
   * Reads several texts, as {@link #load} reads the files of a folder: in the order of their names.
   *
   * @param texts by the name shown in positions
   */
  public static LoadResult parse(Map<String, String> texts, RuleDefaults defaults) {
    return RuleFiles.ofTexts(texts).parse(defaults);
  }

  /**
   * Reads several texts like {@link #parse(Map, RuleDefaults)}, with the default that rules deny.
   */
  public static LoadResult parse(Map<String, String> texts) {
    return parse(texts, RuleDefaults.DENY);
  }

  /**
   * Returns whether this file is among those that are read from a folder of rules: {@code *.yaml}
   * and {@code *.yml} are, hidden files and folders are not.
   */
  public static boolean isRuleFile(Path path) {
    return RuleFiles.isRuleFile(path);
  }
}
