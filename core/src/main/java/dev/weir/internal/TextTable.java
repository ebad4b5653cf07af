package dev.weir.internal;

import java.util.List;

/** A table for a terminal: rows with aligned columns. */
public final class TextTable {
  private TextTable() {}

  /**
   * Returns the rows as lines, each with a line feed at its end.
   *
   * @param indent the text before each line
   * @param alignment a letter for each column: l to the left, r to the right
   */
  public static String of(String indent, List<String[]> rows, String alignment) {
    int[] widths = new int[alignment.length()];
    for (String[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        widths[i] = Math.max(widths[i], width(row[i]));
      }
    }
    StringBuilder text = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder(indent);
      for (int i = 0; i < row.length; i++) {
        String padding = " ".repeat(widths[i] - width(row[i]));
        boolean right = alignment.charAt(i) == 'r';
        line.append(i == 0 ? "" : "  ");
        line.append(right ? padding + row[i] : row[i] + padding);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }
}
