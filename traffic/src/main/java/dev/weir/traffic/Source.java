package dev.weir.traffic;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One opened input: its records one after the other, each with its time. */
final class Source implements Closeable {
  private final int number;
  private final Input input;
  private final Lines lines;
  private final Format format;
  private final RecordReader reader;
  private RecordFields fields = new RecordFields(0);
  private TimeReader time = new TimeReader(TimeReader.Unit.BY_SIZE);
  private long timeNanos;

  private Source(int number, Input input, Lines lines, Format asked)
      throws IOException, TrafficException {
    this.number = number;
    this.input = input;
    this.lines = lines;
    format = asked == Format.AUTO ? Detection.format(input.name(), lines.head()) : asked;
    reader = opened();
  }

  /**
   * Opens an input and reads its beginning.
   *
   * @param number the input's place among all
   * @param asked the format, or to find it out
   * @return null if there is nothing in it and it is one of several, such as a log just rotated
   */
  static @Nullable Source open(
      int number, String name, Format asked, boolean oneOfSeveral, InputStream standard)
      throws IOException, TrafficException {
    Input input = Input.open(name, standard);
    try {
      Lines lines = Lines.of(input.text());
      if (oneOfSeveral && lines.head().length == 0) {
        input.close();
        return null;
      }
      return new Source(number, input, lines, asked);
    } catch (IOException | TrafficException e) {
      input.close();
      throw e;
    }
  }

  private RecordReader opened() throws IOException, TrafficException {
    return switch (format) {
      case COMBINED -> new CombinedReader(lines);
      case CSV -> DelimitedReader.csv(lines);
      case TSV -> DelimitedReader.tsv(lines);
      case JSONL -> new JsonLinesReader(lines);
      case AUTO -> throw new IllegalArgumentException("format: auto (expected: a format)");
    };
  }

  /**
   * Chooses the columns to find, the time's first, and those that every record must have. To be
   * called once, before {@link #next}.
   */
  void want(List<String> columns, Set<String> required, TimeReader.Unit unit)
      throws TrafficException {
    reader.want(columns);
    reader.require(required);
    fields = new RecordFields(columns.size());
    time = new TimeReader(unit);
  }

  /**
   * Moves to the next record whose time can be read. Reports those before it whose time cannot.
   *
   * @return false at the end of the input
   */
  boolean next(Feed.UnreadableLines listener) throws IOException {
    while (true) {
      try {
        if (!reader.next(fields)) {
          return false;
        }
        timeNanos = time.nanos(fields.data(0), fields.from(0), fields.to(0));
        return true;
      } catch (Unreadable e) {
        listener.unreadable(input.name(), reader.line(), e.reason());
      }
    }
  }

  /** Returns its place among all inputs, from 0. */
  int number() {
    return number;
  }

  Input input() {
    return input;
  }

  Format format() {
    return format;
  }

  RecordReader reader() {
    return reader;
  }

  /** Returns whether an interrupt ended it. */
  boolean stopped() {
    return lines.stopped();
  }

  /** Returns the record's columns, valid until {@link #next}. */
  RecordFields fields() {
    return fields;
  }

  /** Returns the record's time in nanoseconds since the Unix epoch. */
  long timeNanos() {
    return timeNanos;
  }

  /** Returns the number of the record's first line, counted from 1. */
  long line() {
    return reader.line();
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
