package dev.weir.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.internal.Choice;
import dev.weir.testkit.Trials;
import dev.weir.traffic.internal.read.Detection;
import dev.weir.traffic.internal.read.OpenedInput;
import dev.weir.traffic.internal.read.Readers;
import dev.weir.traffic.internal.read.UsualColumns;
import dev.weir.traffic.internal.values.TimeReader;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test that a thousand lines of each documented log are read as their documentation defines them,
 * or not at all.
 */
class DocumentedLogsTest {
  private static final int LINES = 1_000;

  /** The sets of formats that are alike: a line of one may be a record of the other. */
  private static final List<List<Format>> ALIKE =
      List.of(
          Readers.COMBINED_LINES, Arrays.stream(Format.values()).filter(Readers::isJson).toList());

  private static final Pattern NAME = Pattern.compile("`([^`]+)`");

  private final long seed = Trials.random("documented logs").nextLong();
  private final SplittableRandom random = new SplittableRandom(seed);

  private static byte[] bytes(DocumentedLog log, List<String> lines) {
    List<String> all = new ArrayList<>(log.header());
    all.addAll(lines);
    return (String.join("\n", all) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  private static boolean alike(DocumentedLog one, DocumentedLog other) {
    return one.format() == other.format()
        || ALIKE.stream().anyMatch(set -> set.containsAll(List.of(one.format(), other.format())));
  }

  private static List<String> lines(DocumentedLog log, List<Logged> requests) {
    return requests.stream().map(log::line).toList();
  }

  /** A record that was read: its line, its time, and the columns' values. */
  private record Found(int line, long nanos, List<String> values) {}

  private static List<Found> read(DocumentedLog log, byte[] text, List<String> columns)
      throws Exception {
    Traffic traffic = Traffic.builder("-").build();
    try (OpenedInput opened =
        OpenedInput.open(0, "-", traffic, false, new ByteArrayInputStream(text))) {
      if (opened == null) {
        throw new AssertionError("no input");
      }
      assertThat(opened.format()).isEqualTo(log.format());
      UsualColumns.TimeColumn time =
          UsualColumns.timeColumn(null, opened.format(), opened.reader());
      TimeReader.Unit unit = opened.times(time.name(), TimeReader.Unit.BY_SIZE).unit();
      List<String> wanted = new ArrayList<>(List.of(time.name()));
      wanted.addAll(columns);
      opened.select(wanted, Set.copyOf(wanted), unit);
      List<Found> found = new ArrayList<>();
      while (opened.next((input, line, reason) -> {})) {
        List<String> values = new ArrayList<>();
        for (int i = 1; i < wanted.size(); i++) {
          values.add(opened.values().text(i));
        }
        int line = (int) opened.line() - 1 - log.header().size();
        found.add(new Found(line, opened.timeNanos(), values));
      }
      return found;
    }
  }

  private Found truth(DocumentedLog log, List<Logged> requests, int line, List<String> columns) {
    Logged request = requests.get(line);
    Map<String, String> expected = log.columns(request);
    long nanos = request.nanos() / log.resolutionNanos() * log.resolutionNanos();
    return new Found(line, nanos, columns.stream().map(expected::get).toList());
  }

  @ParameterizedTest
  @EnumSource(DocumentedLog.class)
  void everyField_isReadBackWithoutFlags(DocumentedLog log) throws Exception {
    List<Logged> requests = Logged.some(LINES, random);
    List<String> columns = List.copyOf(log.columns(requests.get(0)).keySet());
    List<Found> expected = new ArrayList<>();
    for (int i = 0; i < LINES; i++) {
      expected.add(truth(log, requests, i, columns));
    }
    assertThat(read(log, bytes(log, lines(log, requests)), columns))
        .as("seed %s", seed)
        .isEqualTo(expected);
  }

  /** Tests that a value that is cut is never taken for a whole one, except the last of a line. */
  @ParameterizedTest
  @EnumSource(DocumentedLog.class)
  void linesThatAreCutOff_areReadRightOrNotAtAll(DocumentedLog log) throws Exception {
    List<Logged> requests = Logged.some(LINES, random);
    List<String> lines = new ArrayList<>(lines(log, requests));
    for (int i = 3; i < LINES; i += 3) {
      lines.set(i, lines.get(i).substring(0, 1 + random.nextInt(lines.get(i).length() - 1)));
    }
    List<String> columns = List.of(log.client(), "method", "path", "status");
    List<Found> found = read(log, bytes(log, lines), columns);
    assertThat(found).hasSizeGreaterThanOrEqualTo(LINES * 2 / 3);
    for (Found each : found) {
      assertThat(each)
          .as("seed %s, %s", seed, lines.get(each.line))
          .isEqualTo(truth(log, requests, each.line, columns));
    }
  }

  @Tag("model")
  @Tag("sample")
  @ParameterizedTest
  @EnumSource(DocumentedLog.class)
  void fewLinesOfAnotherLog_areNotRecords(DocumentedLog log) throws Exception {
    int count = Trials.runs(120, LINES);
    for (DocumentedLog other : DocumentedLog.values()) {
      if (alike(log, other) || log.format() == Format.W3C) {
        continue; // A header decides what the lines of w3c are.
      }
      List<Logged> requests = Logged.some(count, random);
      List<String> lines = new ArrayList<>(lines(log, requests));
      List<Integer> own = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        if (i % 40 == 39) {
          lines.set(i, other.line(requests.get(i)));
        } else {
          own.add(i);
        }
      }
      List<Found> found =
          read(log, bytes(log, lines), List.copyOf(log.columns(requests.get(0)).keySet()));
      assertThat(found.stream().map(Found::line).toList())
          .as("seed %s, %s in %s", seed, other, log)
          .isEqualTo(own);
    }
  }

  @ParameterizedTest
  @EnumSource(DocumentedLog.class)
  void halfOfAnotherLog_isRefusedAndBothAreNamed(DocumentedLog log) {
    List<Logged> requests = Logged.some(100, random);
    for (DocumentedLog other : DocumentedLog.values()) {
      boolean header = log.format() == Format.W3C || other.format() == Format.W3C;
      if (alike(log, other) || header) {
        continue;
      }
      List<String> lines = new ArrayList<>(lines(log, requests));
      lines.addAll(lines(other, requests));
      assertThatThrownBy(() -> Detection.format("log", bytes(log, lines)))
          .as("seed %s, %s and %s", seed, log, other)
          .isInstanceOf(TrafficException.class)
          .hasMessageContainingAll(
              "\"log\" has lines of several formats:",
              log.format() + " (100, the first is line 1)",
              other.format() + " (100, the first is line 101)");
    }
  }

  @Test
  void linesOfTwoFormats_areCountedAndTheFlagsAreNamed() {
    List<Logged> requests = Logged.some(100, random);
    List<String> lines = new ArrayList<>(lines(DocumentedLog.ALB, requests));
    lines.addAll(lines(DocumentedLog.COMBINED, requests));
    assertThatThrownBy(() -> Detection.format("log", bytes(DocumentedLog.COMBINED, lines)))
        .isInstanceOf(TrafficException.class)
        .hasMessage(
            "format: \"log\" has lines of several formats: combined (100, the first is line 101),"
                + " alb (100, the first is line 1) (expected: one; --format with its name reads"
                + " that one, and the other lines count as unreadable)");
  }

  @Test
  void addressesInTwoPlaces_areRefusedAndTheFlagsAreNamed() throws Exception {
    String end = " [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    assertThatThrownBy(() -> format("192.0.2.1 198.51.100.7 - -" + end))
        .hasMessageContaining(
            "may be combined or vhost (expected: --format combined, the client in")
        .hasMessageContaining("--format vhost, the client in the second word");
    assertThatThrownBy(() -> format("192.0.2.1 198.51.100.7 -" + end))
        .hasMessageContaining("two addresses before the time")
        .hasMessageContaining("'ip={ident}' for the second");
    assertThat(format("192.0.2.1 - John Smith" + end)).isEqualTo(Format.COMBINED);
    assertThat(format("192.0.2.1:80 198.51.100.7 - -" + end)).isEqualTo(Format.VHOST);
  }

  @Test
  void clientsThatAreNoAddresses_areRefusedAndTheFlagIsNamed() throws Exception {
    String end = " [17/May/2015:10:05:03 +0000] \"GET / HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    assertThatThrownBy(() -> format("host.example - frank" + end))
        .hasMessageStartingWith("format: no address in the place of the client in \"-\", line 1")
        .hasMessageContaining("(expected: --format combined, the client in the first word, if");
    assertThatThrownBy(() -> format("www.example.com client.example - -" + end))
        .hasMessageContaining("(expected: --format vhost, the client in the second word, if");
    assertThat(format("host.example - frank" + end + "192.0.2.1 - frank" + end))
        .isEqualTo(Format.COMBINED);
  }

  private static Format format(String lines) throws TrafficException {
    return Detection.format("-", lines.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void tableInTheDocumentation_saysWhatHappens() throws Exception {
    List<Logged> requests = Logged.some(LINES, new SplittableRandom(1));
    StringBuilder table = new StringBuilder("| log | format | without flags |\n|---|---|---|\n");
    for (DocumentedLog log : DocumentedLog.values()) {
      byte[] text = bytes(log, lines(log, requests));
      table.append("| ").append(log.title()).append(" | `").append(log.format()).append("` | ");
      table.append(result(text)).append(" |\n");
    }
    DocumentedTable.check(table.toString());
  }

  @Test
  void tableOfColumns_namesEveryFormat() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "replay.md"));
    String table = page.substring(page.indexOf("| format | columns |"));
    List<String> named =
        table
            .substring(0, table.indexOf("\n\n"))
            .lines()
            .map(row -> row.split("\\|", -1)[1])
            .flatMap(cell -> NAME.matcher(cell).results())
            .map(name -> name.group(1))
            .toList();
    List<String> expected = new ArrayList<>(Choice.texts(Format.class));
    expected.removeAll(List.of("auto", "layout"));
    assertThat(named).containsExactlyInAnyOrderElementsOf(expected);
  }

  private static String result(byte[] text) throws Exception {
    try (TrafficReader reader =
        TrafficReader.open(Traffic.builder("-").build(), null, new ByteArrayInputStream(text))) {
      long[] records = {0};
      reader.each((i, l, n, r, d, t) -> records[0]++, (i, l, why) -> {}, Progress.NONE);
      assertThat(reader.warnings()).isEmpty();
      return "read: "
          + records[0]
          + " of "
          + LINES
          + " lines, time `"
          + reader.timeColumn()
          + "`"
          + (reader.timeUnit().isEmpty() ? "" : " in " + reader.timeUnit())
          + ", key `"
          + reader.template().levels().get(0).key()
          + "`";
    } catch (TrafficException e) {
      return "`" + e.getMessage() + "`";
    }
  }
}
