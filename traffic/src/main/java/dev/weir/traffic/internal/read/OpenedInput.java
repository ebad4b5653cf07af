package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import dev.weir.traffic.internal.values.TimeReader;
import dev.weir.traffic.internal.values.UnreadableException;
import dev.weir.traffic.internal.values.WallClock;
import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** An opened input: its records one after the other, each with its time. */
public final class OpenedInput implements Closeable {
  /** The number of times at the input's beginning whose zone is checked. */
  private static final int LOOKED_AT = 1_000;

  private final int number;
  private final Input input;
  private final Lines lines;
  private byte[] head;
  private final Format format;
  private final @Nullable Layout layout;
  private final boolean prefixed;
  private final @Nullable ZoneId zone;
  private final RecordReader reader;
  private final CanonicalAddresses addresses = new CanonicalAddresses();
  private final @Nullable ProxiedClients proxies;

  /** The slots of the columns that have addresses. */
  private int[] addressSlots = new int[0];

  /** The slot of the list that trusted proxies have added to; -1 for none. */
  private int forwardedSlot = -1;

  private RecordValues values = new RecordValues(0);
  private WallClock clock = new WallClock(null);
  private TimeReader time = new TimeReader(TimeReader.Unit.BY_SIZE);
  private @Nullable LineStamp stamp;
  private long timeNanos;

  private OpenedInput(int number, Input input, Lines lines, Traffic traffic)
      throws IOException, TrafficException {
    this.number = number;
    this.input = input;
    this.lines = lines;
    head = lines.head();
    layout = Layout.asked(traffic);
    Detection.Result detected =
        layout != null
            ? new Detection.Result(Format.LAYOUT, false)
            : Detection.of(input.name(), head, traffic.format());
    format = detected.format();
    prefixed = detected.prefixed();
    // The times of the extended format are UTC by its definition.
    zone = traffic.zone() == null && format == Format.W3C ? ZoneOffset.UTC : traffic.zone();
    proxies = ProxiedClients.behind(traffic.trustedProxies());
    reader = reader(lines);
  }

  private RecordReader reader(Lines lines) throws IOException, TrafficException {
    Lines records = prefixed ? lines.behindPrefixes() : lines;
    return layout == null ? Readers.of(format, records) : Readers.of(layout, records);
  }

  /**
   * Opens an input and reads its beginning.
   *
   * @param number the input's place among all
   * @param traffic the options by which it is read
   * @return null if it is empty and one of several, such as a log just rotated
   */
  public static @Nullable OpenedInput open(
      int number, String name, Traffic traffic, boolean oneOfSeveral, InputStream standard)
      throws IOException, TrafficException {
    Input input = Input.open(name, standard);
    try {
      Lines lines = Lines.of(input.text());
      if (oneOfSeveral && lines.head().length == 0) {
        input.close();
        return null;
      }
      return new OpenedInput(number, input, lines, traffic);
    } catch (IOException | TrafficException e) {
      input.close();
      throw e;
    }
  }

  /**
   * The kind of times at an input's beginning.
   *
   * @param unit the unit of numbers
   * @param reason the way in which the unit was inferred, for people; empty if it was not
   * @param unknownZone true if any has no zone, and none is known
   * @param knownZone true if any has one
   * @param otherZone true if they are of another zone than the stamps before them
   */
  public record Times(
      TimeReader.Unit unit,
      String reason,
      boolean unknownZone,
      boolean knownZone,
      boolean otherZone) {}

  /**
   * Examines the times at the input's beginning. To be called before {@link #select}.
   *
   * @param asked the unit of numbers, or {@code BY_SIZE} to infer it
   * @throws TrafficException if they are numbers without a plausible unit
   */
  public Times times(String column, TimeReader.Unit asked) throws IOException, TrafficException {
    TimeUnits.InferredUnit inferred =
        asked == TimeReader.Unit.BY_SIZE
            ? TimeUnits.infer(column, reader(Lines.of(new ByteArrayInputStream(head))))
            : new TimeUnits.InferredUnit(asked, "");
    Lines lines = Lines.of(new ByteArrayInputStream(head));
    RecordReader reader = reader(lines);
    reader.select(List.of(column));
    RecordValues values = new RecordValues(1);
    WallClock clock = new WallClock(zone);
    TimeReader time = timeReader(inferred.unit(), clock);
    LineStamp stamp = stamp(clock);
    boolean known = false;
    for (int i = 0; i < LOOKED_AT; i++) {
      try {
        if (!reader.next(values)) {
          break;
        }
        if (stamp != null) {
          stamp.read(lines.data(), lines.lineFrom(), lines.to());
        }
        long unused = time.nanos(values.data(0), values.from(0), values.to(0));
        known |= time.zoned() || clock.assumed() == 0;
      } catch (UnreadableException ignored) {
        // It is reported, with its line number, when the line is read.
      }
    }
    return new Times(
        inferred.unit(), inferred.reason(), clock.assumed() > 0, known, clock.disagrees());
  }

  private TimeReader timeReader(TimeReader.Unit unit, WallClock clock) {
    boolean brackets = Format.GENERAL.contains(format) || Readers.isJson(format);
    return new TimeReader(unit, clock).allowBrackets(brackets);
  }

  /** Returns the error for times that are of another zone than the stamps before them. */
  public String otherZone() {
    return "time: the times in "
        + ShownText.quoted(input.name())
        + " are not those before each record, so they are of another zone (expected: --zone with"
        + " the zone of the records, such as Europe/Berlin)";
  }

  /** Returns the reader of the time that stands before each record; null if none is needed. */
  private @Nullable LineStamp stamp(WallClock clock) {
    boolean behind = prefixed || LineLogs.is(LineLogs.Kind.BEHIND_SYSLOG, format);
    if (layout != null) {
      behind = layout.pieces().get(0).kind() == Layout.Kind.SKIP;
    }
    return behind ? new LineStamp(clock) : null;
  }

  /**
   * Chooses the columns to find, the time's first, and those that every record must have. To be
   * called once, before {@link #next}.
   */
  public void select(List<String> columns, Set<String> required, TimeReader.Unit unit)
      throws TrafficException {
    List<String> found = withForwarded(columns);
    reader.select(found);
    reader.require(required);
    values = new RecordValues(found.size());
    addressSlots =
        IntStream.range(0, columns.size())
            .filter(slot -> UsualColumns.mayHaveAddresses(columns.get(slot)))
            .toArray();
    clock = new WallClock(zone);
    time = timeReader(unit, clock);
    stamp = stamp(clock);
    head = new byte[0];
  }

  /** Returns the columns, with the one that has the list of proxies if that is read. */
  private List<String> withForwarded(List<String> columns) {
    String list =
        proxies == null
            ? null
            : reader.columns().stream().filter(UsualColumns::isForwarded).findFirst().orElse(null);
    if (list == null) {
      return columns;
    }
    forwardedSlot = columns.indexOf(list);
    if (forwardedSlot >= 0) {
      return columns;
    }
    forwardedSlot = columns.size();
    List<String> all = new ArrayList<>(columns);
    all.add(list);
    return all;
  }

  /**
   * Moves to the next record whose time can be read. Reports those before it whose time cannot be
   * read.
   *
   * @return false at the end of the input
   */
  public boolean next(TrafficReader.UnreadableLines listener) throws IOException {
    while (true) {
      try {
        if (!nextUntimed()) {
          return false;
        }
        LineStamp stamp = this.stamp;
        if (stamp != null) {
          stamp.read(lines.data(), lines.lineFrom(), lines.to());
        }
        timeNanos = time.nanos(values.data(0), values.from(0), values.to(0));
        return true;
      } catch (UnreadableException e) {
        listener.unreadable(input.name(), reader.line(), e.reason());
      }
    }
  }

  /** Moves to the next record, whether it has a time or not. */
  public boolean nextUntimed() throws IOException, UnreadableException {
    if (!reader.next(values)) {
      return false;
    }
    ProxiedClients behind = proxies;
    for (int slot : addressSlots) {
      if (behind == null) {
        addresses.replace(values, slot);
      } else {
        addresses.replace(values, slot, behind, forwardedSlot);
      }
    }
    return true;
  }

  /** Returns whether times without a zone were taken for UTC. */
  public boolean assumedUtc() {
    return clock.assumed() > 0;
  }

  /** Returns the peculiarities of the records so far, one line each. */
  public List<String> notes() {
    List<String> notes = new ArrayList<>(reader.notes());
    if (prefixed) {
      notes.add("prefix: what stands before each record is left out");
    }
    if (addresses.lists() > 0) {
      notes.add(
          String.format(
              Locale.ROOT,
              "ip: a list of addresses in %,d records; the first of each counts",
              addresses.lists()));
    }
    if (clock.beganTwice()) {
      notes.add(
          "time: the first record is in the hour that comes twice where summer time ends; it is"
              + " taken for summer time");
    }
    return notes;
  }

  /** Returns the input's place among all inputs, from 0. */
  public int number() {
    return number;
  }

  public Input input() {
    return input;
  }

  public Format format() {
    return format;
  }

  public RecordReader reader() {
    return reader;
  }

  /** Returns whether compressed data broke off or was damaged. */
  public boolean broken() {
    return lines.broken();
  }

  /** Returns a text on how much was read of compressed data that broke off. */
  public String brokenText() {
    return "input: "
        + input.name()
        + " ends early or is damaged behind "
        + input.bytesRead()
        + " bytes of compressed data; what is read ends at line "
        + line()
        + ", and the rest is missing";
  }

  /** Returns whether an interrupt ended the input. */
  public boolean stopped() {
    return lines.stopped();
  }

  /** Returns the record's columns, valid until {@link #next}. */
  public RecordValues values() {
    return values;
  }

  /** Returns the record's time in nanoseconds since the Unix epoch. */
  public long timeNanos() {
    return timeNanos;
  }

  /** Returns the number of the record's first line, counted from 1. */
  public long line() {
    return reader.line();
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
