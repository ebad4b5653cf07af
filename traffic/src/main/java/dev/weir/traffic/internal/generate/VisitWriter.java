package dev.weir.traffic.internal.generate;

import dev.weir.traffic.Format;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** A writer of generated requests as lines. Their texts need no escapes in any format. */
public final class VisitWriter {
  private static final DateTimeFormatter ACCESS_LOG =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final DateTimeFormatter ISO =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private static final String[] COLUMNS = {
    "time", "ip", "user", "method", "path", "status", "bytes"
  };

  private final Format format;
  private final OutputStream out;
  private final StringBuilder line = new StringBuilder();

  /** The second that was written last; {@code secondText} is its text. */
  private long second = Long.MIN_VALUE;

  private String secondText = "";

  public VisitWriter(Format format, OutputStream out) throws IOException {
    this.format = format;
    this.out = out;
    if (format == Format.CSV || format == Format.TSV) {
      line.append(String.join(format == Format.CSV ? "," : "\t", COLUMNS));
      flushLine();
    }
  }

  public void write(Visit visit) throws IOException {
    switch (format) {
      case COMBINED -> combined(visit);
      case CSV -> delimited(visit, ',');
      case TSV -> delimited(visit, '\t');
      case JSONL -> json(visit);
      default ->
          throw new IllegalArgumentException(
              "format: " + format + " (expected: combined, csv, tsv or jsonl)");
    }
    flushLine();
  }

  private void combined(Visit visit) {
    line.append(visit.ip()).append(" - ").append(visit.user()).append(" [");
    line.append(second(visit, ACCESS_LOG)).append("] \"").append(visit.method()).append(' ');
    line.append(visit.path()).append(" HTTP/1.1\" ").append(visit.status()).append(' ');
    line.append(visit.bytes()).append(" \"-\" \"").append(visit.agent()).append('"');
  }

  private void delimited(Visit visit, char separator) {
    time(visit);
    line.append(separator).append(visit.ip()).append(separator).append(visit.user());
    line.append(separator).append(visit.method()).append(separator).append(visit.path());
    line.append(separator).append(visit.status()).append(separator).append(visit.bytes());
  }

  private void json(Visit visit) {
    line.append("{\"time\":\"");
    time(visit);
    line.append("\",\"ip\":\"").append(visit.ip()).append("\",\"user\":\"").append(visit.user());
    line.append("\",\"method\":\"").append(visit.method()).append("\",\"path\":\"");
    line.append(visit.path()).append("\",\"status\":").append(visit.status());
    line.append(",\"bytes\":").append(visit.bytes()).append('}');
  }

  /** Appends the time to the millisecond. */
  private void time(Visit visit) {
    line.append(second(visit, ISO)).append('.');
    int millis = (int) (visit.nanos() % 1_000_000_000 / 1_000_000);
    line.append((char) ('0' + millis / 100)).append((char) ('0' + millis / 10 % 10));
    line.append((char) ('0' + millis % 10)).append('Z');
  }

  private String second(Visit visit, DateTimeFormatter formatter) {
    long of = visit.nanos() / 1_000_000_000;
    if (of != second) {
      second = of;
      secondText = formatter.format(Instant.ofEpochSecond(of));
    }
    return secondText;
  }

  private void flushLine() throws IOException {
    line.append('\n');
    out.write(line.toString().getBytes(StandardCharsets.US_ASCII));
    line.setLength(0);
  }
}
