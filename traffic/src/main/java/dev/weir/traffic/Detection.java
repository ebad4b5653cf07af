package dev.weir.traffic;

import dev.weir.rules.ShownText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Finds an input's format by its name and its beginning, and the column with the time. */
final class Detection {
  /*
   * Why by hand? Libraries guess a media type from the first bytes, and all of these formats are
   * text/plain to them. Here a guess is made only where one format fits; otherwise an error asks.
   */

  /** Names of the column with the time, the surest first; in any letter case. */
  private static final List<String> TIME_NAMES =
      List.of(
          "@timestamp",
          "timestamp",
          "time",
          "ts",
          "datetime",
          "date_time",
          "date",
          "event_time",
          "eventtime",
          "time_iso8601",
          "time_local",
          "start_time",
          "starttime",
          "created_at",
          "epoch");

  /** Names of columns whose values are keys, the surest first; in any letter case. */
  private static final List<String> KEY_NAMES =
      List.of(
          "ip",
          "client_ip",
          "remote_addr",
          "client",
          "user",
          "user_id",
          "host",
          "key",
          "api_key",
          "tenant");

  private Detection() {}

  /**
   * Returns the format.
   *
   * @param head the input's beginning
   * @throws TrafficException if neither the name nor the content shows it
   */
  static Format format(String name, byte[] head) throws TrafficException {
    if (head.length >= 2 && (mark(head, 0xff, 0xfe) || mark(head, 0xfe, 0xff))) {
      throw new TrafficException("input: " + name + " is in UTF-16 (expected: UTF-8)");
    }
    if (head.length == 0 && byName(name) == null) {
      throw new TrafficException("input: " + name + " is empty (expected: records)");
    }
    Format named = byName(name);
    return named != null ? named : byContent(name, head);
  }

  private static boolean mark(byte[] head, int first, int second) {
    return head[0] == (byte) first && head[1] == (byte) second;
  }

  private static @Nullable Format byName(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    for (String compressed : List.of(".gz", ".zst")) {
      if (lower.endsWith(compressed)) {
        lower = lower.substring(0, lower.length() - compressed.length());
      }
    }
    if (lower.endsWith(".csv")) {
      return Format.CSV;
    }
    if (lower.endsWith(".tsv") || lower.endsWith(".tab")) {
      return Format.TSV;
    }
    return lower.endsWith(".jsonl") || lower.endsWith(".ndjson") ? Format.JSONL : null;
  }

  private static Format byContent(String name, byte[] head) throws TrafficException {
    String line = firstLine(head);
    if (line.startsWith("{")) {
      return Format.JSONL;
    }
    if (looksCombined(line)) {
      return Format.COMBINED;
    }
    if (line.isEmpty()) {
      throw new TrafficException("input: " + name + " is blank (expected: records)");
    }
    if (line.indexOf('\0') >= 0) {
      throw new TrafficException(
          "input: "
              + name
              + " begins with binary data (expected: text; for a log whose beginning is lost,"
              + " --format combined, csv, tsv or jsonl)");
    }
    boolean tabs = line.indexOf('\t') >= 0;
    boolean commas = line.indexOf(',') >= 0;
    if (tabs == commas) {
      throw new TrafficException(
          "format: not recognized by the input's name "
              + ShownText.quoted(name)
              + " or its first line "
              + ShownText.quoted(line)
              + " (expected: --format combined, csv, tsv or jsonl)");
    }
    return tabs ? Format.TSV : Format.CSV;
  }

  /** Returns the first line that is not blank, without spaces around it. */
  private static String firstLine(byte[] head) {
    String text = new String(head, StandardCharsets.UTF_8);
    return text.lines().filter(line -> !line.isBlank()).findFirst().orElse("").strip();
  }

  /** Whether the line has a time in brackets behind three words, and a request in quotes. */
  private static boolean looksCombined(String line) {
    int bracket = line.indexOf(" [");
    int close = line.indexOf("] \"", Math.max(0, bracket));
    if (bracket < 0 || close < 0) {
      return false;
    }
    long spaces = line.substring(0, bracket).chars().filter(c -> c == ' ').count();
    return spaces >= 2 && close - bracket >= 20 && close - bracket <= 40;
  }

  /** The column with the time, and what numbers in it mean. */
  record TimeColumn(String name, TimeReader.Unit unit) {}

  /**
   * Returns the column with the time.
   *
   * @param asked the column's name, with or without {@code :s}, {@code :ms}, {@code :us} or {@code
   *     :ns} behind it; null to look for a usual name
   */
  static TimeColumn timeColumn(@Nullable String asked, RecordReader reader)
      throws TrafficException {
    if (asked == null) {
      return new TimeColumn(usualName(reader.columns()), TimeReader.Unit.BY_SIZE);
    }
    int colon = asked.lastIndexOf(':');
    TimeReader.Unit unit = colon < 0 ? null : unit(asked.substring(colon + 1));
    if (unit == null || reader.columns().contains(asked)) {
      return new TimeColumn(asked, TimeReader.Unit.BY_SIZE);
    }
    return new TimeColumn(asked.substring(0, colon), unit);
  }

  private static TimeReader.@Nullable Unit unit(String suffix) {
    return switch (suffix) {
      case "s" -> TimeReader.Unit.SECONDS;
      case "ms" -> TimeReader.Unit.MILLISECONDS;
      case "us" -> TimeReader.Unit.MICROSECONDS;
      case "ns" -> TimeReader.Unit.NANOSECONDS;
      default -> null;
    };
  }

  private static String usualName(List<String> columns) throws TrafficException {
    for (String usual : TIME_NAMES) {
      for (String column : columns) {
        if (column.equalsIgnoreCase(usual)) {
          return column;
        }
      }
    }
    throw new TrafficException(
        "time: no column has a usual name for it (expected: --time with one of "
            + ShownText.listed(columns)
            + ")");
  }

  /** Returns the column whose values are most likely to be the keys, or says that none is. */
  static String keyColumn(List<String> columns) throws TrafficException {
    for (String usual : KEY_NAMES) {
      for (String column : columns) {
        if (column.equalsIgnoreCase(usual)) {
          return column;
        }
      }
    }
    throw new TrafficException(
        "descriptor: none, and no column has a usual name for a key"
            + " (expected: --descriptor 'k={column}' with one of "
            + ShownText.listed(columns)
            + ")");
  }
}
