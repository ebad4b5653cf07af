package dev.weir.cli.command;

import dev.weir.rules.ShownText;
import java.util.ArrayList;
import java.util.List;

/** A table of texts in columns that are as wide as their longest text. */
public final class TextTable {
  private final List<List<String>> rows = new ArrayList<>();

  public TextTable(String... header) {
    rows.add(List.of(header));
  }

  /** Adds a row; control characters are shown as escapes, and an empty text as a hyphen. */
  public void add(String... cells) {
    List<String> row = new ArrayList<>();
    for (String cell : cells) {
      row.add(cell.isEmpty() ? "-" : ShownText.plain(cell));
    }
    rows.add(row);
  }

  public boolean isEmpty() {
    return rows.size() == 1;
  }

  @Override
  public String toString() {
    int columns = rows.get(0).size();
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < columns; i++) {
        line.append(row.get(i));
        if (i < columns - 1) {
          line.append(" ".repeat(widths[i] - row.get(i).length() + 2));
        }
      }
      text.append(text.length() == 0 ? "" : System.lineSeparator()).append(line);
    }
    return text.toString();
  }
}
