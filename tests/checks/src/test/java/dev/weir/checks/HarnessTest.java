package dev.weir.checks;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The lines of code that only help tests and measurements: fixtures, test kits, the lab. They are
 * printed for each module, and may be a third of the product's lines. A harness that grows beyond
 * that has usually been written more than once.
 */
class HarnessTest {
  private static final int PRODUCT_LINES_FOR_ONE = 3;

  /** A test, or a contract of tests, in whatever folder it is. */
  private static final Pattern TEST =
      Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|JCStressTest)\\b");

  /** The folders whose main code is for tests and measurements. */
  private static final List<String> FOLDERS = List.of("tests/", "lab/");

  /** The lines of a module, or of all modules. */
  private record Lines(long product, long tests, long harness) {
    private static final Lines NONE = new Lines(0, 0, 0);

    static Lines of(Module module) {
      boolean ships = FOLDERS.stream().noneMatch(module.name()::startsWith);
      Lines all = NONE;
      for (Path source : module.sources("main")) {
        all = all.plus(of(source, ships));
      }
      for (Path source : module.sources("test")) {
        all = all.plus(of(source, false));
      }
      return all;
    }

    private static Lines of(Path source, boolean ships) {
      String text = Module.read(source);
      long lines = text.lines().count();
      if (ships) {
        return new Lines(lines, 0, 0);
      }
      return TEST.matcher(text).find() ? new Lines(0, lines, 0) : new Lines(0, 0, lines);
    }

    Lines plus(Lines other) {
      return new Lines(product + other.product, tests + other.tests, harness + other.harness);
    }
  }

  @Test
  void harness_isAtMostAThirdOfTheProduct() {
    Map<String, Lines> modules = new TreeMap<>();
    Module.all().forEach(module -> modules.put(module.name(), Lines.of(module)));
    Lines all = modules.values().stream().reduce(Lines.NONE, Lines::plus);
    modules.put("all", all);
    List<String> table = new ArrayList<>();
    modules.forEach(
        (name, lines) ->
            table.add(
                "%-32s %7d %7d %7d"
                    .formatted(name, lines.product(), lines.tests(), lines.harness())));
    System.out.println(
        "%-32s %7s %7s %7s%n".formatted("lines", "product", "tests", "harness")
            + String.join(System.lineSeparator(), table));
    assertThat(all.harness() * PRODUCT_LINES_FOR_ONE)
        .as("three times the harness")
        .isLessThanOrEqualTo(all.product());
  }
}
