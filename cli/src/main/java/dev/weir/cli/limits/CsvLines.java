package dev.weir.cli.limits;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.config.Json;
import dev.weir.rules.DidYouMean;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
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

  /** A reader of one line as cells; a stray quote costs no other line. */
  private static final ObjectReader CELLS =
      CsvMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build()
          .readerForListOf(String.class);

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
    String header = line();
    if (header == null) {
      throw new CommandFailure(
          Main.FOUND, "input: empty (expected: a header with " + String.join(",", COLUMNS) + ")");
    }
    columns = columns(header);
    for (String column : columns) {
      if (!COLUMNS.contains(column) || columns.indexOf(column) != columns.lastIndexOf(column)) {
        throw new CommandFailure(
            Main.FOUND,
            ValueErrors.line(
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
            ValueErrors.line("header", "no column " + column, String.join(", ", REQUIRED)));
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
    List<Row> rows = new ArrayList<>(List.of(first));
    for (Row row = ahead; row != null && isOf(first, row); row = ahead) {
      rows.add(row);
      ahead = row();
    }
    List<Map<String, Object>> limits = new ArrayList<>();
    Line wrong = null;
    for (Row row : rows) {
      String problem = add(row, record, limits);
      if (wrong == null && !problem.isEmpty()) {
        wrong = new Line(row.number(), "", problem);
      }
    }
    if (!limits.isEmpty()) {
      record.put("limits", limits);
    }
    return wrong == null ? new Line(first.number(), Json.write(record), "") : wrong;
  }

  private static boolean isOf(Row first, Row row) {
    return row.problem().isEmpty() && row.subject().equals(first.subject());
  }

  /** Adds a row to its record, and returns its problem, or an empty text. */
  private static String add(Row row, Map<String, Object> record, List<Map<String, Object>> limits) {
    Map<String, String> cells = row.cells();
    for (String column : REQUIRED) {
      if (!cells.containsKey(column)) {
        return column + ": empty (expected: a value; JSON can have an empty one)";
      }
    }
    for (String column : List.of("plan", "note")) {
      String cell = cells.getOrDefault(column, "");
      if (!cell.isEmpty() && !cell.equals(record.getOrDefault(column, cell))) {
        return column + ": another one than above (expected: one a customer)";
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
        return ValueErrors.line(column, ShownText.quoted(cell), "a whole number");
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

  private static List<String> columns(String header) {
    try {
      return cells(header).stream().map(String::strip).toList();
    } catch (UnreadableRow e) {
      throw new CommandFailure(Main.FOUND, "header: " + e.getMessage());
    }
  }

  private @Nullable Row row() throws IOException {
    String line = line();
    if (line == null) {
      return null;
    }
    if (line.charAt(0) == LineInput.UNREADABLE) {
      return new Row(in.line(), Map.of(), line.substring(1));
    }
    try {
      List<String> all = cells(line);
      if (all.size() != columns.size()) {
        throw new UnreadableRow(
            ValueErrors.line("cells", all.size(), columns.size() + ", as many as the header has"));
      }
      Map<String, String> cells = new LinkedHashMap<>();
      for (int i = 0; i < all.size(); i++) {
        if (!all.get(i).isEmpty()) {
          cells.put(columns.get(i), all.get(i));
        }
      }
      return new Row(in.line(), cells, "");
    } catch (UnreadableRow e) {
      return new Row(in.line(), Map.of(), String.valueOf(e.getMessage()));
    }
  }

  private static List<String> cells(String line) throws UnreadableRow {
    try {
      return CELLS.readValue(line);
    } catch (MismatchedInputException e) {
      throw new UnreadableRow("a carriage return in it (expected: lines that end with LF or CRLF)");
    } catch (JsonProcessingException e) {
      throw new UnreadableRow(
          ShownText.ofParser(e.getOriginalMessage()) + " (expected: a row of CSV on one line)");
    }
  }

  /** Returns the next line that is not blank, or null if there are no more. */
  private @Nullable String line() throws IOException {
    String line = in.next();
    while (line != null && line.isEmpty()) {
      line = in.next();
    }
    return line;
  }

  /** A line that is no row under the header. */
  private static final class UnreadableRow extends Exception {
    private static final long serialVersionUID = 1;

    UnreadableRow(String problem) {
      super(problem);
    }
  }
}
