package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The sources of tests and of the lab have no copies: what two of them need is a fixture or a
 * contract. A copy is a number of equal lines in a row, without imports, comments and lines that
 * only close a block.
 */
class CopiesTest {
  private static final int COPY_LINES = 16;

  private static final Pattern SKIPPED =
      Pattern.compile("|package .*|import .*|//.*|/?\\*.*|\\}.*");

  @Test
  void sources_haveNoCopies() {
    Map<List<String>, Path> seen = new HashMap<>();
    List<String> problems = new ArrayList<>();
    for (Module module : Module.all()) {
      List<Path> sources = new ArrayList<>(module.sources("test"));
      if (module.name().startsWith("lab/")) {
        sources.addAll(module.sources("main"));
      }
      for (Path source : sources) {
        find(source, seen, problems);
      }
    }
    assertThat(problems).isEmpty();
  }

  private static void find(Path source, Map<List<String>, Path> seen, List<String> problems) {
    List<String> lines = lines(Module.read(source));
    int next = 0;
    for (int i = 0; i + COPY_LINES <= lines.size(); i++) {
      List<String> part = lines.subList(i, i + COPY_LINES);
      Path other = seen.putIfAbsent(part, source);
      if (other != null && i >= next) {
        next = i + COPY_LINES;
        problems.add(
            Module.ROOT.relativize(source)
                + ": "
                + COPY_LINES
                + " lines as in "
                + Module.ROOT.relativize(other)
                + " (expected: written once), from "
                + part.get(0));
      }
    }
  }

  private static List<String> lines(String text) {
    return text.lines()
        .map(String::strip)
        .filter(line -> !SKIPPED.matcher(line).matches())
        .toList();
  }
}
