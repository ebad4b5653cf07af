package dev.weir.replay;

import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** One replay in its own folder: rules, input, options; then summary and rows. */
final class Trial {
  private static final DateTimeFormatter ACCESS_LOG =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

  /** A row of the decisions, without its line feed. */
  record Row(
      long line,
      long timestampMs,
      String outcome,
      String reason,
      String policy,
      String limit,
      String remaining,
      String retryAfterMs) {
    static Row of(String text) {
      String[] cells = text.split(",", -1);
      return new Row(
          Long.parseLong(cells[0]),
          Long.parseLong(cells[1]),
          cells[2],
          cells[3],
          cells[4],
          cells[5],
          cells[6],
          cells[7]);
    }
  }

  private final Path folder;
  private Path rules;
  private final List<String> inputs = new ArrayList<>();
  private byte[] standardInput = new byte[0];
  private UnaryOperator<Traffic.Builder> traffic = builder -> builder;
  private UnaryOperator<ReplayOptions.Builder> options = builder -> builder;

  Trial(Path folder) throws IOException {
    this.folder = folder;
    rules = Files.writeString(folder.resolve("rules.yaml"), rules("", 2, "minute"));
  }

  /** Returns rules of domain d with one descriptor {@code key}. */
  static String rules(String algorithm, long permits, String unit) {
    return "domain: d\n"
        + "descriptors:\n"
        + "  - key: key\n"
        + "    rate_limit:\n"
        + "      name: lim\n"
        + "      unit: "
        + unit
        + "\n      requests_per_unit: "
        + permits
        + (algorithm.isEmpty() ? "" : "\n      algorithm: " + algorithm)
        + "\n";
  }

  static String accessLogTime(long epochSecond) {
    return ACCESS_LOG.format(Instant.ofEpochSecond(epochSecond));
  }

  Trial rulesText(String text) throws IOException {
    rules = Files.writeString(folder.resolve("rules.yaml"), text);
    return this;
  }

  Trial input(String name, String text) throws IOException {
    return input(name, text.getBytes(StandardCharsets.UTF_8));
  }

  Trial input(String name, byte[] bytes) throws IOException {
    inputs.clear();
    return andInput(name, bytes);
  }

  /** Adds an input to the existing ones. */
  Trial andInput(String name, byte[] bytes) throws IOException {
    if (name.equals(Traffic.STANDARD_INPUT)) {
      inputs.add(name);
      standardInput = bytes;
    } else {
      inputs.add(Files.write(folder.resolve(name), bytes).toString());
    }
    return this;
  }

  Trial inputFile(Path file) {
    inputs.clear();
    return andInputFile(file);
  }

  Trial andInputFile(Path file) {
    inputs.add(file.toString());
    return this;
  }

  /** Sets how the traffic is read. Without any descriptor: {@code key={k}}. */
  Trial traffic(UnaryOperator<Traffic.Builder> more) {
    traffic = more;
    return this;
  }

  /** Sets further options. Without any, the defaults hold. */
  Trial options(UnaryOperator<ReplayOptions.Builder> more) {
    options = more;
    return this;
  }

  ReplaySummary run() throws IOException, TrafficException {
    return run(Progress.NONE);
  }

  ReplaySummary run(Progress progress) throws IOException, TrafficException {
    return run(progress, new ByteArrayInputStream(standardInput));
  }

  ReplaySummary run(Progress progress, InputStream standard) throws IOException, TrafficException {
    return Replay.run(build(), progress, standard);
  }

  Traffic traffic() {
    Traffic.Builder builder = Traffic.builder().timeUnit(TimeUnit.SECONDS).anyOrder(true);
    inputs.forEach(builder::input);
    Traffic asked = traffic.apply(builder).build();
    String time = asked.time();
    if (time != null && time.matches(".*:(s|ms|us|ns)")) {
      asked = builder.timeUnit(null).build();
    }
    return asked.descriptors().isEmpty() ? builder.descriptor("key={k}").build() : asked;
  }

  /** Returns the warnings about the rules alone: trials are short and mostly of one key. */
  static List<String> ruleWarnings(ReplaySummary summary) {
    return summary.warnings().stream()
        .filter(
            each -> !each.startsWith("descriptor ") && !each.contains("longer than the traffic"))
        .toList();
  }

  private ReplayOptions build() {
    ReplayOptions.Builder builder =
        ReplayOptions.builder(traffic(), "d").rules(rules).decisions(decisionsFile());
    return options.apply(builder).build();
  }

  Path decisionsFile() {
    return folder.resolve("decisions.csv");
  }

  /** Returns the rows that the run has written. */
  List<Row> rows() throws IOException {
    List<String> lines = Files.readAllLines(decisionsFile());
    List<Row> rows = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      rows.add(Row.of(line));
    }
    return rows;
  }

  /** Returns {@code line outcome} of each row. */
  List<String> outcomes() throws IOException {
    return rows().stream().map(row -> row.line() + " " + row.outcome()).toList();
  }
}
