package dev.weir.traffic;

import java.io.ByteArrayInputStream;
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
  private byte[] head;
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
    head = lines.head();
    format = asked == Format.AUTO ? Detection.format(input.name(), head) : asked;
    reader = Readers.of(format, lines);
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

  /** Returns another reader, of the input's beginning only. */
  RecordReader beginning() throws IOException, TrafficException {
    return Readers.of(format, Lines.of(new ByteArrayInputStream(head)));
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
    head = new byte[0];
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

  /** Moves to the next record, whether it has a time or not. */
  boolean nextUntimed() throws IOException, Unreadable {
    return reader.next(fields);
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

  /** Returns whether compressed data broke off or was damaged. */
  boolean broken() {
    return lines.broken();
  }

  /** Returns what was read of compressed data that broke off. */
  String brokenText() {
    return "input: "
        + input.name()
        + " ends early or is damaged behind "
        + input.bytesRead()
        + " bytes of compressed data; what is read ends at line "
        + line()
        + ", and the rest is missing";
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
