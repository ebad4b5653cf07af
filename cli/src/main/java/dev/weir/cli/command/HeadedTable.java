package dev.weir.cli.command;

import dev.weir.internal.TextTable;
import dev.weir.rules.ShownText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A table of texts with a header, in columns that are as wide as their longest text. */
public final class HeadedTable {
  private final List<String[]> rows = new ArrayList<>();

  /** Creates a table without rows, whose columns have these names. */
  public HeadedTable(String... header) {
    rows.add(header);
  }

  /** Adds a row; control characters are shown as escapes, and an empty text as a hyphen. */
  public void add(String... cells) {
    rows.add(
        Arrays.stream(cells)
            .map(cell -> cell.isEmpty() ? "-" : ShownText.plain(cell))
            .toArray(String[]::new));
  }

  public boolean isEmpty() {
    return rows.size() == 1;
  }

  @Override
  public String toString() {
    return TextTable.of("", rows, "l".repeat(rows.get(0).length))
        .stripTrailing()
        .replace("\n", System.lineSeparator());
  }
}
