package dev.weir.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the page's snippets equal the code that is compiled and run. */
class RecipesPageTest {
  private static final Path PAGE = Path.of("..", "..", "docs", "recipes.md");
  private static final Path CODE =
      Path.of("src", "test", "java", "dev", "weir", "examples", "recipes", "RecipesTest.java");

  /** Returns the lines between a first and a last line, joined and without their indentation. */
  private static List<String> between(Path file, String first, String last) throws IOException {
    List<String> blocks = new ArrayList<>();
    List<String> block = null;
    for (String line : Files.readAllLines(file)) {
      if (block == null) {
        block = line.strip().equals(first) ? new ArrayList<>() : null;
      } else if (line.strip().equals(last)) {
        blocks.add(String.join("\n", block).stripTrailing().stripIndent());
        block = null;
      } else {
        block.add(line);
      }
    }
    return blocks;
  }

  @Test
  void everySnippetOfThePage_isOneThatIsRun() throws IOException {
    List<String> page = between(PAGE, "```java", "```");
    assertThat(page).isNotEmpty().containsExactlyElementsOf(between(CODE, "// recipe", "// end"));
  }
}
