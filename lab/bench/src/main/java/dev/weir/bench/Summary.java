package dev.weir.bench;

import dev.weir.bench.Reading.Scenario;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * A maker of Markdown tables from JMH's JSON results: medians, ratios to Bucket4j in the same
 * scenario, bytes allocated.
 *
 * <pre>Summary FILE...</pre>
 */
final class Summary {
  private static final String YARDSTICK = Contender.BUCKET4J.toString();

  private static final Comparator<Scenario> ORDER =
      Comparator.comparingInt(Scenario::threads)
          .thenComparing(Scenario::draw)
          .thenComparingInt(Scenario::keys)
          .thenComparing(Scenario::load);

  /** All rounds of one contender in one scenario. */
  private static final class Cell {
    private final List<Double> perMicrosecond = new ArrayList<>();
    private final List<Double> bytes = new ArrayList<>();
  }

  /** The rows in the order in which they came; each has its cells by scenario. */
  private final Map<String, Map<Scenario, Cell>> contenders = new LinkedHashMap<>();

  private final TreeSet<String> jvms = new TreeSet<>();

  public static void main(String[] files) throws IOException {
    Summary summary = new Summary();
    for (String file : files) {
      summary.add(Files.readString(Path.of(file)));
    }
    System.out.print(summary.markdown());
  }

  /** Adds one file of results. */
  void add(String json) throws IOException {
    Reading.all(json).forEach(this::add);
  }

  private void add(Reading reading) {
    Cell cell =
        contenders
            .computeIfAbsent(reading.contender(), name -> new TreeMap<>(ORDER))
            .computeIfAbsent(reading.scenario(), scenario -> new Cell());
    cell.perMicrosecond.addAll(reading.perMicrosecond());
    if (!Double.isNaN(reading.bytesPerDecision())) {
      cell.bytes.add(reading.bytesPerDecision());
    }
    jvms.add(reading.jvm());
  }

  /** Returns a table for each number of threads and draw. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    jvms.forEach(jvm -> text.append("JVM: ").append(jvm).append("\n"));
    text.append(
        "\nMillions of decisions a second (median); times Bucket4j; bytes allocated a decision.\n");
    TreeMap<Scenario, TreeSet<Scenario>> tables =
        new TreeMap<>(Comparator.comparingInt(Scenario::threads).thenComparing(Scenario::draw));
    contenders
        .values()
        .forEach(
            row ->
                row.keySet()
                    .forEach(
                        scenario ->
                            tables
                                .computeIfAbsent(scenario, first -> new TreeSet<>(ORDER))
                                .add(scenario)));
    tables.values().forEach(columns -> table(text, columns));
    return text.toString();
  }

  private void table(StringBuilder text, SortedSet<Scenario> columns) {
    Scenario first = columns.first();
    text.append("\n**")
        .append(first.threads() == 1 ? "1 thread" : first.threads() + " threads")
        .append(", ")
        .append(first.draw())
        .append("**\n\n");
    row(text, "", columns, column -> keys(column.keys()) + ", " + column.load());
    row(text, "---", columns, column -> "---");
    contenders.forEach(
        (contender, cells) -> {
          if (columns.stream().anyMatch(cells::containsKey)) {
            row(text, contender, columns, column -> cell(cells, column));
          }
        });
  }

  private static void row(
      StringBuilder text,
      String head,
      SortedSet<Scenario> columns,
      Function<Scenario, String> cell) {
    text.append("| ").append(head).append(" |");
    columns.forEach(column -> text.append(' ').append(cell.apply(column)).append(" |"));
    text.append('\n');
  }

  private String cell(Map<Scenario, Cell> cells, Scenario column) {
    Cell cell = cells.get(column);
    if (cell == null) {
      return "";
    }
    double median = median(cell.perMicrosecond);
    StringBuilder text = new StringBuilder(format("%.2f", median));
    Map<Scenario, Cell> yardstick = contenders.get(YARDSTICK);
    Cell measure = yardstick == null ? null : yardstick.get(column);
    text.append("; ")
        .append(measure == null ? "-" : format("%.2f x", median / median(measure.perMicrosecond)));
    text.append("; ").append(cell.bytes.isEmpty() ? "-" : format("%.0f B", median(cell.bytes)));
    return text.toString();
  }

  private static String keys(int keys) {
    return keys == 1
        ? "one key"
        : keys % 1_000_000 == 0
            ? keys / 1_000_000 + " M keys"
            : keys % 1_000 == 0 ? keys / 1_000 + " k keys" : keys + " keys";
  }

  private static String format(String pattern, double value) {
    return String.format(Locale.ROOT, pattern, value);
  }

  private static double median(List<Double> values) {
    return Median.of(values.stream().mapToDouble(Double::doubleValue));
  }
}
