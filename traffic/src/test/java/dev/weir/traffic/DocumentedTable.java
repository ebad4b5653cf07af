package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A table of {@code docs/replay.md} that a test makes. */
final class DocumentedTable {
  private static final Path PAGE = Path.of("..", "docs", "replay.md");

  private DocumentedTable() {}

  /**
   * Asserts that the page has the table, or writes it into the page with {@code
   * -Dweir.tables=write}.
   *
   * @param table its lines, each ended by a line feed; the first one finds it in the page
   */
  static void check(String table) throws IOException {
    String page = Files.readString(PAGE);
    if ("write".equals(System.getProperty("weir.tables"))) {
      int from = page.indexOf(table.lines().findFirst().orElseThrow());
      int to = page.indexOf("\n\n", from) + 1;
      assertThat(from).as("the table's place in the page").isNotNegative();
      page = page.substring(0, from) + table + page.substring(to);
      Files.writeString(PAGE, page);
    }
    assertThat(page).as("written with -Dweir.tables=write").contains(table);
  }
}
