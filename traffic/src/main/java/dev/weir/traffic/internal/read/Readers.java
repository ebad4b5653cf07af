package dev.weir.traffic.internal.read;

import static dev.weir.traffic.internal.read.ViewReader.views;

import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.internal.read.JsonLogs.JsonLog;
import dev.weir.traffic.internal.read.LineLogs.Kind;
import dev.weir.traffic.internal.read.LineLogs.LineLog;
import dev.weir.traffic.internal.read.ViewReader.Part;
import dev.weir.traffic.internal.read.ViewReader.View;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The reader of each format. {@link LineLogs} has the formats that a layout describes, {@link
 * JsonLogs} those of JSON; the others have a reader of their own.
 */
public final class Readers {
  /** The views on labels: those of ltsv.org, and those in the spelling of nginx's logs. */
  private static final Map<String, List<View>> LTSV_VIEWS =
      views(
          "ip", "remote_addr",
          "ip", "remote_ip",
          "ip", "client_ip",
          "ip", "client",
          "ip", "host",
          "method", new View("req", Part.METHOD),
          "method", new View("request", Part.METHOD),
          "path", new View("uri", Part.PATH),
          "path", new View("request_uri", Part.PATH),
          "path", new View("req", Part.REQUEST_PATH),
          "path", new View("request", Part.REQUEST_PATH),
          "query", new View("uri", Part.QUERY),
          "query", new View("request_uri", Part.QUERY),
          "query", new View("req", Part.REQUEST_QUERY),
          "query", new View("request", Part.REQUEST_QUERY),
          "protocol", new View("req", Part.PROTOCOL),
          "protocol", new View("request", Part.PROTOCOL),
          "bytes", "size",
          "agent", "ua");

  /** The views on the fields of the extended log file format. */
  private static final Map<String, List<View>> W3C_VIEWS =
      views(
          "ip", "c-ip",
          "method", "cs-method",
          "path", "cs-uri-stem",
          "query", "cs-uri-query",
          "status", "sc-status",
          "bytes", "sc-bytes",
          "user", "cs-username",
          "agent", "cs(User-Agent)",
          "referer", "cs(Referer)",
          "host", "cs-host",
          "host", "x-host-header",
          "host", "cs(Host)",
          "protocol", "cs-version",
          "protocol", "cs-protocol-version");

  /**
   * The formats of combined lines, some of them with more values before or behind. One line may be
   * of several of these formats, and its client may be the name of a host.
   */
  public static final List<Format> COMBINED_LINES =
      Stream.concat(
              Stream.of(Format.COMBINED, Format.VHOST),
              LineLogs.byFormat().keySet().stream()
                  .filter(format -> LineLogs.is(Kind.COMBINED, format)))
          .toList();

  /**
   * The formats of lines of text that are distinguished by their own readers, those of {@link
   * #COMBINED_LINES} first.
   */
  static final List<Format> LINES =
      Stream.concat(COMBINED_LINES.stream(), LineLogs.byFormat().keySet().stream())
          .distinct()
          .toList();

  private Readers() {}

  /** Returns a reader of lines in the order of a user's layout. */
  static RecordReader of(Layout layout, Lines lines) {
    return LineLogs.reader(layout, lines);
  }

  /**
   * Returns a reader of the lines.
   *
   * @throws TrafficException if the beginning shows that they cannot be in that format
   */
  public static RecordReader of(Format format, Lines lines) throws IOException, TrafficException {
    LineLog line = LineLogs.byFormat().get(format);
    if (line != null) {
      return line.reader(lines);
    }
    JsonLog json = JsonLogs.byFormat().get(format);
    if (json != null) {
      RecordReader records = new JsonLinesReader(lines);
      return ViewReader.of(
          format == Format.PINO ? AnsweredRequests.of(records) : records, json.views());
    }
    return switch (format) {
      case COMBINED -> new CombinedReader(lines);
      case VHOST -> CombinedReader.vhost(lines);
      case W3C -> ViewReader.of(new W3cReader(lines), W3C_VIEWS);
      case LTSV -> ViewReader.of(new LtsvReader(lines), LTSV_VIEWS);
      case CSV -> DelimitedReader.csv(lines);
      case TSV -> DelimitedReader.tsv(lines);
      case JSONL -> new JsonLinesReader(lines);
      default -> throw new IllegalArgumentException("format: " + format + " (expected: a format)");
    };
  }

  /** Returns whether records of the format are JSON objects. */
  public static boolean isJson(Format format) {
    return format == Format.JSONL || JsonLogs.byFormat().containsKey(format);
  }

  /** Returns the column with the time of a format; empty if the format has no fixed name for it. */
  static String timeColumn(Format format) {
    if (Format.GENERAL.contains(format)) {
      return "";
    }
    JsonLog json = JsonLogs.byFormat().get(format);
    return json == null ? "time" : json.timeColumn();
  }

  /**
   * Returns the last column that no line of the format lacks: it distinguishes a whole line from
   * one of a similar format.
   */
  static String lastCertainColumn(Format format) {
    LineLog line = LineLogs.byFormat().get(format);
    return line == null ? "status" : line.lastCertain();
  }
}
