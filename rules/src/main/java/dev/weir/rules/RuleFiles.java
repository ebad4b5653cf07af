package dev.weir.rules;

import java.nio.file.Path;
import java.util.List;

/** The contents of rule files at one moment. */
final class RuleFiles {
  private RuleFiles() {}

  static RuleFiles read(List<Path> paths) {
    return new RuleFiles();
  }

  static RuleFiles ofText(String file, String text) {
    return new RuleFiles();
  }

  Rules.Loaded parse() {
    return new Rules.Loaded(RuleSet.EMPTY, List.of());
  }
}
