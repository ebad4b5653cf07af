package dev.weir.cli.limits;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.config.Json;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.Expected;
import dev.weir.rules.ShownText;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records to import in CSV under a header [RFC 4180]. A row has one limit of a customer;
 * consecutive rows with the same domain, key and value are one record. A row is one line: values
 * with line ends can only be imported as JSON.
 */
final class CsvLines implements ImportLines {
  static final List<String> COLUMNS =
      List.of(
          "domain",
          "key",
          "value",
          "plan",
          "rule",
          "requests_per_unit",
          "window",
          "burst",
          "until",
          "note");

  private static final List<String> REQUIRED = List.of("domain", "key", "value");

  /** A reader of one row; each line has its own, so a stray quote costs no other row. */
  private static final ObjectReader CELLS =
      new CsvMapper()
          .readerForListOf(String.class)
          .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private final LineInput in;
  private final List<String> columns;
  private @Nullable Row ahead;

  /**
   * A row of the input.
   *
   * @param cells the cells by column; empty ones are left out
   */
  private record Row(long number, Map<String, String> cells, String problem) {
    List<String> subject() {
      return REQUIRED.stream().map(column -> cells.getOrDefault(column, "")).toList();
    }
  }

  /**
   * Reads the header.
   *
   * @throws CommandFailure if the line is not a header
   */
  CsvLines(InputStream in) throws IOException {
    this.in = new LineInput(in);
    List<String> header = new ArrayList<>();
    String problem = cells(header);
    if (problem == null) {
      throw new CommandFailure(
          Main.FOUND, "input: empty (expected: a header with " + String.join(",", COLUMNS) + ")");
    }
    columns = header.stream().map(String::strip).toList();
    for (String column : columns) {
      if (!COLUMNS.contains(column) || columns.indexOf(column) != columns.lastIndexOf(column)) {
        throw new CommandFailure(
            Main.FOUND,
            Expected.line(
                    "header",
                    ShownText.quoted(column),
                    "each once of " + String.join(", ", COLUMNS))
                + DidYouMean.of(column, COLUMNS));
      }
    }
    for (String column : REQUIRED) {
      if (!columns.contains(column)) {
        throw new CommandFailure(
            Main.FOUND,
            Expected.line("header", "no column " + column, String.join(", ", REQUIRED)));
      }
    }
    ahead = row();
  }

  @Override
  public @Nullable Line next() throws IOException {
    Row first = ahead;
    if (first == null) {
      return null;
    }
    ahead = row();
    if (!first.problem().isEmpty()) {
      return new Line(first.number(), "", first.problem());
    }
    Map<String, Object> record = new LinkedHashMap<>();
    REQUIRED.forEach(column -> record.put(column, first.cells().getOrDefault(column, "")));
    List<Map<String, Object>> limits = new ArrayList<>();
    String problem = add(first, record, limits);
    for (Row row = ahead;
        row != null && row.problem().isEmpty() && row.subject().equals(first.subject());
        row = ahead) {
      String worse = add(row, record, limits);
      problem = problem.isEmpty() ? worse : problem;
      ahead = row();
    }
    if (!limits.isEmpty()) {
      record.put("limits", limits);
    }
    return problem.isEmpty()
        ? new Line(first.number(), Json.write(record), "")
        : new Line(first.number(), "", problem);
  }

  /** Adds a row to its record, and returns its problem, or an empty text. */
  private static String add(Row row, Map<String, Object> record, List<Map<String, Object>> limits) {
    Map<String, String> cells = row.cells();
    for (String column : List.of("plan", "note")) {
      String cell = cells.getOrDefault(column, "");
      if (!cell.isEmpty() && !cell.equals(record.getOrDefault(column, cell))) {
        return column + ": another one in line " + row.number() + " (expected: one a customer)";
      }
      if (!cell.isEmpty()) {
        record.put(column, cell);
      }
    }
    String rule = cells.getOrDefault("rule", "");
    if (rule.isEmpty()) {
      for (String column : List.of("requests_per_unit", "window", "burst", "until")) {
        if (cells.containsKey(column)) {
          return column + ": without a rule (expected: the rule that it is for)";
        }
      }
      return "";
    }
    Map<String, Object> limit = new LinkedHashMap<>();
    limit.put("rule", rule);
    for (String column : List.of("requests_per_unit", "burst")) {
      String cell = cells.getOrDefault(column, "");
      if (cell.matches("[0-9]{1,18}")) {
        limit.put(column, Long.parseLong(cell));
      } else if (!cell.isEmpty() || column.equals("requests_per_unit")) {
        return Expected.line(column, ShownText.quoted(cell), "a whole number");
      }
    }
    for (String column : List.of("window", "until")) {
      if (cells.containsKey(column)) {
        limit.put(column, cells.get(column));
      }
    }
    limits.add(limit);
    return "";
  }

  @Override
  public long bytes() {
    return in.bytes();
  }

  private @Nullable Row row() throws IOException {
    List<String> cells = new ArrayList<>();
    String problem = cells(cells);
    if (problem == null) {
      return null;
    }
    if (problem.isEmpty() && cells.size() != columns.size()) {
      problem = cells.size() + " values (expected: " + columns.size() + ", as the header has)";
    }
    Map<String, String> byColumn = new LinkedHashMap<>();
    if (problem.isEmpty()) {
      for (int i = 0; i < columns.size(); i++) {
        if (!cells.get(i).isEmpty()) {
          byColumn.put(columns.get(i), cells.get(i));
        }
      }
    }
    return new Row(in.line(), byColumn, problem);
  }

  /**
   * Reads a row into a list; blank lines are skipped.
   *
   * @return the problem of the row, or an empty text; null if there are no more rows
   */
  private @Nullable String cells(List<String> cells) throws IOException {
    String line = in.next();
    while (line != null && line.isEmpty()) {
      line = in.next();
    }
    if (line == null) {
      return null;
    }
    if (line.charAt(0) == LineInput.UNREADABLE) {
      return line.substring(1);
    }
    try {
      cells.addAll(CELLS.<List<String>>readValue(line));
      return "";
    } catch (JsonProcessingException e) {
      return e.getOriginalMessage() + " (expected: a row of CSV on one line)";
    }
  }
}
