package dev.weir.traffic;

import dev.weir.traffic.internal.read.Lines;
import dev.weir.traffic.internal.read.RecordReader;
import dev.weir.traffic.internal.read.RecordValues;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A helper that reads all of a text with a reader, as lines to compare. */
public final class Read {
  /** A maker of readers. */
  public interface Maker {
    RecordReader of(Lines lines) throws IOException, TrafficException;
  }

  private Read() {}

  public static Lines lines(String text) throws IOException {
    return Lines.of(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  /** Returns {@code line|value|value} for each record and {@code line! reason} for each failure. */
  public static List<String> all(Maker maker, String text, String... columns)
      throws IOException, TrafficException {
    return all(maker, new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), columns);
  }

  public static List<String> all(Maker maker, InputStream in, String... columns)
      throws IOException, TrafficException {
    RecordReader reader = maker.of(Lines.of(in));
    reader.select(List.of(columns));
    return rest(reader, columns.length);
  }

  /** Returns the same for records of which only some columns are required. */
  public static List<String> all(Maker maker, String text, Set<String> required, String... columns)
      throws IOException, TrafficException {
    RecordReader reader = maker.of(lines(text));
    reader.select(List.of(columns));
    reader.require(required);
    return rest(reader, columns.length);
  }

  private static List<String> rest(RecordReader reader, int columns) throws IOException {
    RecordValues values = new RecordValues(columns);
    List<String> found = new ArrayList<>();
    boolean more = true;
    while (more) {
      try {
        more = reader.next(values);
        if (more) {
          StringBuilder record = new StringBuilder().append(reader.line());
          for (int i = 0; i < columns; i++) {
            record.append('|').append(values.text(i));
          }
          found.add(record.toString());
        }
      } catch (UnreadableException e) {
        found.add(reader.line() + "! " + e.reason());
      }
    }
    return found;
  }
}
