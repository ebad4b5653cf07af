package dev.weir.replay.internal.pages;

import dev.weir.rules.ShownText;

/** A builder of HTML. Text is escaped here and nowhere else. */
public final class Html {
  /**
   * The number of columns from which on a table becomes cards on a phone, where it would not fit.
   */
  private static final int MANY_COLUMNS = 4;

  /** The length of the longest key shown: beyond it a row would fill the page. */
  private static final int MAX_KEY = 160;

  private final StringBuilder html = new StringBuilder(1 << 16);
  private String[] headings = {};
  private int column;

  /** Appends markup as it is. */
  public Html raw(String markup) {
    html.append(markup);
    return this;
  }

  /** Appends untrusted text: escaped, and without characters that control the display. */
  public Html text(String text) {
    html.append(escaped(text));
    return this;
  }

  static String escaped(String text) {
    String plain = ShownText.plain(text);
    StringBuilder escaped = new StringBuilder(plain.length() + 16);
    for (int i = 0; i < plain.length(); i++) {
      char c = plain.charAt(i);
      switch (c) {
        case '<' -> escaped.append("&lt;");
        case '>' -> escaped.append("&gt;");
        case '&' -> escaped.append("&amp;");
        case '"' -> escaped.append("&quot;");
        default -> escaped.append(c);
      }
    }
    return escaped.toString();
  }

  /** Appends an element with text in it. */
  public Html element(String name, String text) {
    return raw("<" + name + ">").text(text).raw("</" + name.replaceAll(" .*", "") + ">");
  }

  /** Begins a table. A heading that starts with {@code #} is that of a column of numbers. */
  public Html table(String... headings) {
    return table(headings.length >= MANY_COLUMNS ? "cards" : "few", headings);
  }

  private Html table(String kind, String... headings) {
    this.headings = headings;
    raw("<div class=\"scroll\"><table class=\"" + kind + "\"><thead><tr>");
    for (String heading : headings) {
      boolean number = heading.startsWith("#");
      raw(number ? "<th class=\"n\">" : "<th>").text(number ? heading.substring(1) : heading);
      raw("</th>");
    }
    return raw("</tr></thead><tbody>");
  }

  /**
   * Begins a table of rows to be compared with each other: on a phone it scrolls. See {@link
   * #table} for the headings.
   */
  public Html tableSideBySide(String... headings) {
    return table("side", headings);
  }

  public Html endTable() {
    return raw("</tbody></table></div>");
  }

  public Html row() {
    column = 0;
    return raw("<tr>");
  }

  /**
   * Opens the row's next cell, with its heading as an attribute: on a phone, the heading stands
   * beside the cell.
   */
  public Html openCell(String classes) {
    String heading = headings[column++];
    raw("<td class=\"" + classes + "\" data-h=\"");
    return text(heading.startsWith("#") ? heading.substring(1) : heading).raw("\">");
  }

  public Html endRow() {
    return raw("</tr>\n");
  }

  Html cell(String text) {
    return openCell("text").text(text).raw("</td>");
  }

  /** Appends a cell whose text stays on one line. */
  public Html word(String text) {
    return openCell("word").text(text).raw("</td>");
  }

  /** Appends a cell of two lines, the second of which is small and may be missing. */
  Html words(String first, String second) {
    openCell("word").text(first);
    if (!second.isEmpty()) {
      raw("<br>").element("small", second);
    }
    return raw("</td>");
  }

  /** Appends a cell with a key: it may be long, and breaks where it must. */
  public Html keyCell(String text) {
    return openCell("key").text(ShownText.cut(text, MAX_KEY)).raw("</td>");
  }

  public Html number(String text) {
    return openCell("n").text(text).raw("</td>");
  }

  public Html number(long value) {
    return number(Figures.number(value));
  }

  /** Appends a share as a number with a bar under it. */
  public Html share(long part, long whole) {
    double percent = whole == 0 ? 0 : 100.0 * part / whole;
    return openCell("n share")
        .text(Figures.percent(part, whole))
        .raw("<i style=\"width:" + PageChart.number(percent) + "%\"></i></td>");
  }

  /** Appends a number of importance, with its name. */
  Html tile(String name, String value, String note, boolean alarming) {
    raw("<div class=\"tile" + (alarming ? " alarm" : "") + "\">").element("span", name);
    element("b", value);
    return element("small", note).raw("</div>\n");
  }

  @Override
  public String toString() {
    return html.toString();
  }
}
