package dev.weir.traffic;

import dev.weir.rules.Request;
import dev.weir.rules.ShownText;
import dev.weir.traffic.internal.check.KeyCheck;
import dev.weir.traffic.internal.check.UnreadableTally;
import dev.weir.traffic.internal.read.OpenedInput;
import dev.weir.traffic.internal.read.Order;
import dev.weir.traffic.internal.read.RecordFields;
import dev.weir.traffic.internal.read.RecordSorter;
import dev.weir.traffic.internal.read.TimeReader;
import dev.weir.traffic.internal.read.UnreadableException;
import dev.weir.traffic.internal.read.UsualColumns;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Traffic as requests, one after the other. Of several inputs, the earliest record always comes
 * next; or all records are sorted by time.
 *
 * <p>An interrupt of the thread ends the feed early and is cleared; {@link #stopped} is then true.
 */
public final class Feed implements Closeable {
  /*
   * How is a Feed designed, and why? It opens all inputs, finds their columns and the unit of their
   * times, and then has one record of each input in a queue by time: the earliest is passed on and
   * its input read further. With one input there is no queue. Sorting puts the same stream through
   * a RecordSorter. On the way, Order, KeyCheck and UnreadableTally examine each record, which
   * costs a comparison or two; their doubts are the warnings at the end. RequestTemplate defines
   * what a record means, a RecordReader how it is written.
   */

  /** The advice for traffic that does not fit the heap. */
  public static final String MORE_HEAP = "give it more with -Xmx, as in WEIR_JAVA_OPTS=-Xmx4g";

  /** The note about times without a zone when none is given. */
  static final String UTC_NOTE =
      "time: no zone in the times; read as UTC (expected: --zone with the writer's, such as"
          + " Europe/Berlin, if that is another)";

  /** The number of records between two reports of progress, a power of two. */
  private static final int REPORT_EVERY = 4096;

  /** The most memory for records that wait to be sorted; an eighth of the heap if that is less. */
  private static final long SORT_BYTES = 64L << 20;

  /** The most records in a hundred that may be earlier than one before them. */
  private static final int MAX_OUT_OF_ORDER_PERCENT = 1;

  /** A receiver of requests. */
  public interface Taker {
    /**
     * Receives a request.
     *
     * @param input the input's number, from 0
     * @param line the record's first line there, from 1
     * @param timeNanos its time in nanoseconds since the Unix epoch
     * @param load the load in the record, NaN if there is none
     */
    void take(int input, long line, long timeNanos, Request request, double load)
        throws IOException, TrafficException;
  }

  /** A receiver of lines that cannot be read. */
  public interface UnreadableLines {
    void unreadable(String input, long line, String reason);
  }

  private final Traffic traffic;
  private @Nullable RequestTemplate bound;
  private final List<OpenedInput> inputs = new ArrayList<>();
  private final int sortBytes;
  private final Order order = new Order();
  private final UnreadableTally unreadable = new UnreadableTally();
  private List<List<KeyCheck>> keys = List.of();
  private String timeColumn = "";
  private String timeUnit = "";
  private final Set<String> timeNotes = new LinkedHashSet<>();
  private int columns;
  private boolean stopped;
  private long records;

  private Feed(Traffic traffic, int sortBytes) {
    this.traffic = traffic;
    this.sortBytes = sortBytes;
  }

  /**
   * Opens all inputs and finds their columns.
   *
   * @param template the template of a record's request, or null for the column with a usual name
   *     for a key
   * @param standard the stream that {@link Traffic#STANDARD_INPUT} stands for
   * @throws TrafficException if that cannot be done; its message lists all problems
   */
  public static Feed open(Traffic traffic, @Nullable RequestTemplate template, InputStream standard)
      throws IOException, TrafficException {
    long bytes = Math.min(SORT_BYTES, Runtime.getRuntime().maxMemory() / 8);
    return open(traffic, template, standard, (int) bytes);
  }

  static Feed open(
      Traffic traffic, @Nullable RequestTemplate template, InputStream standard, int sortBytes)
      throws IOException, TrafficException {
    Feed feed = new Feed(traffic, sortBytes);
    try {
      feed.openAll(standard);
      feed.bind(template == null ? feed.usual() : template);
      return feed;
    } catch (IOException | TrafficException e) {
      feed.close();
      throw e;
    }
  }

  /** Returns standard input such that an interrupt ends a blocked read. */
  public static InputStream standardInput() {
    return Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel());
  }

  private void openAll(InputStream standard) throws IOException, TrafficException {
    List<String> problems = new ArrayList<>();
    List<String> names = traffic.inputs();
    if (names.isEmpty() || names.size() > Traffic.MAX_INPUTS) {
      throw new TrafficException(
          "input: " + names.size() + " (expected: 1.." + Traffic.MAX_INPUTS + " files)");
    }
    if (names.indexOf(Traffic.STANDARD_INPUT) != names.lastIndexOf(Traffic.STANDARD_INPUT)) {
      throw new TrafficException("input: - several times (expected: standard input once)");
    }
    for (int i = 0; i < names.size(); i++) {
      try {
        OpenedInput opened = OpenedInput.open(i, names.get(i), traffic, names.size() > 1, standard);
        if (opened != null) {
          inputs.add(opened);
        }
      } catch (TrafficException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    if (inputs.isEmpty()) {
      throw new TrafficException("input: all empty (expected: records in one at least)");
    }
  }

  /**
   * Chooses the columns; the time's column goes to slot 0. The first input decides which column
   * that is.
   */
  private void bind(RequestTemplate template) throws IOException, TrafficException {
    List<String> problems = new ArrayList<>();
    Set<String> wanted = new LinkedHashSet<>();
    TimeReader.Unit unit = TimeReader.Unit.BY_SIZE;
    try {
      OpenedInput first = inputs.get(0);
      UsualColumns.TimeColumn time =
          UsualColumns.timeColumn(traffic.time(), first.format(), first.reader());
      timeColumn = time.name();
      unit = unitOf(time.unit());
      wanted.add(timeColumn);
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    try {
      template.resolve(
          name -> inputs.stream().allMatch(each -> each.reader().columns().contains(name)));
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    wanted.addAll(template.columns());
    List<String> columns = List.copyOf(wanted);
    for (OpenedInput opened : inputs) {
      for (String column : columns) {
        if (!opened.reader().has(column)) {
          problems.add(
              "column "
                  + ShownText.quoted(column)
                  + (inputs.size() > 1 ? " of " + opened.input().name() : "")
                  + ": unknown (expected: one of "
                  + ShownText.listed(opened.reader().columns())
                  + ")");
        }
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    Set<String> required = template.required();
    required.add(timeColumn);
    bindTimes(columns, required, unit);
    template.bind(columns);
    bound = template;
    this.columns = columns.size();
    keys = KeyCheck.of(template);
  }

  /** Returns the requested unit, whether the column or the traffic names it. */
  private TimeReader.Unit unitOf(TimeReader.Unit behindColumn) throws TrafficException {
    TimeUnit asked = traffic.timeUnit();
    if (asked == null) {
      return behindColumn;
    }
    TimeReader.Unit unit = TimeReader.Unit.named(String.valueOf(traffic.unitFlag()));
    if (unit == null) {
      throw new TrafficException("timeUnit: " + asked + " (expected: seconds or a part of one)");
    }
    if (behindColumn != TimeReader.Unit.BY_SIZE && behindColumn != unit) {
      throw new TrafficException(
          "time: "
              + behindColumn.flag()
              + " behind the column, and "
              + unit.flag()
              + " as its unit (expected: one of them)");
    }
    return unit;
  }

  /** Finds the kind of each input's times, and whether the inputs' times can be compared. */
  private void bindTimes(List<String> columns, Set<String> required, TimeReader.Unit asked)
      throws IOException, TrafficException {
    String unknown = "";
    String known = "";
    for (OpenedInput opened : inputs) {
      OpenedInput.Times times = opened.times(timeColumn, asked);
      if (asked != TimeReader.Unit.BY_SIZE || !times.reason().isEmpty()) {
        timeUnit = times.unit().words();
      }
      if (!times.reason().isEmpty()) {
        timeNotes.add(times.reason());
      }
      if (times.otherZone()) {
        throw new TrafficException(opened.otherZone());
      }
      unknown = times.unknownZone() ? opened.input().name() : unknown;
      known = times.knownZone() && !times.unknownZone() ? opened.input().name() : known;
      opened.select(columns, required, times.unit());
    }
    if (!unknown.isEmpty() && !known.isEmpty()) {
      throw new TrafficException(
          "time: "
              + ShownText.quoted(unknown)
              + " has times without a zone, and "
              + ShownText.quoted(known)
              + " has others (expected: --zone with the zone of those without, such as"
              + " Europe/Berlin)");
    }
  }

  private RequestTemplate usual() throws TrafficException {
    String column = UsualColumns.keyColumn(inputs.get(0).format(), inputs.get(0).reader());
    return RequestTemplate.of("", List.of(column + "={" + column + "}"), traffic.permits());
  }

  /**
   * Passes on all requests, and all lines that are not requests.
   *
   * @throws TrafficException at the end, if more than one record in a hundred is earlier than one
   *     before it and they were not to be sorted, or if a clock with an unknown zone was set back
   */
  public void each(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    UnreadableLines all =
        (input, line, reason) -> {
          this.unreadable.unreadable(input, line, reason);
          unreadable.unreadable(input, line, reason);
        };
    if (traffic.sort()) {
      sorted(taker, all, progress);
    } else {
      merged(opened -> take(opened, opened.fields(), taker, all), all, progress);
    }
    report(progress);
    if (!traffic.anyOrder() && !stopped) {
      if (!order.setBack().isEmpty()) {
        throw new TrafficException(order.setBack());
      }
      if (!traffic.sort()) {
        order.check(MAX_OUT_OF_ORDER_PERCENT, !Format.GENERAL.contains(format()));
      }
    }
  }

  /** A receiver of inputs, each at its current record. */
  private interface RecordSink {
    void take(OpenedInput opened) throws IOException, TrafficException;
  }

  private void merged(RecordSink taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    PriorityQueue<OpenedInput> heads =
        new PriorityQueue<>(
            Comparator.comparingLong(OpenedInput::timeNanos).thenComparingInt(OpenedInput::number));
    UnreadableLines counted =
        (input, line, reason) -> {
          records++;
          unreadable.unreadable(input, line, reason);
        };
    for (OpenedInput opened : inputs) {
      advance(opened, heads, counted);
    }
    while (!heads.isEmpty()) {
      OpenedInput opened = heads.remove();
      do {
        order.next(opened);
        taker.take(opened);
        if ((++records & (REPORT_EVERY - 1)) == 0) {
          report(progress);
        }
        if (Thread.interrupted()) {
          stopped = true;
          return;
        }
      } while (heads.isEmpty() && opened.next(counted));
      if (!heads.isEmpty()) {
        advance(opened, heads, counted);
      }
    }
    stopped = inputs.stream().anyMatch(OpenedInput::stopped) && Thread.interrupted();
  }

  private static void advance(
      OpenedInput opened, PriorityQueue<OpenedInput> heads, UnreadableLines unreadable)
      throws IOException {
    if (opened.next(unreadable)) {
      heads.add(opened);
    }
  }

  private void take(
      OpenedInput opened, RecordFields fields, Taker taker, UnreadableLines unreadable)
      throws IOException, TrafficException {
    take(opened.number(), opened.line(), opened.timeNanos(), fields, taker, unreadable);
  }

  private void take(
      int input,
      long line,
      long timeNanos,
      RecordFields fields,
      Taker taker,
      UnreadableLines unreadable)
      throws IOException, TrafficException {
    try {
      Request request = template().request(fields);
      double load = template().load(fields);
      KeyCheck.check(keys, request);
      taker.take(input, line, timeNanos, request, load);
    } catch (UnreadableException e) {
      unreadable.unreadable(traffic.inputs().get(input), line, e.reason());
    }
  }

  private void sorted(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    try (RecordSorter sorter = new RecordSorter(columns, sortBytes)) {
      merged(
          opened -> sorter.add(opened.number(), opened.line(), opened.timeNanos(), opened.fields()),
          unreadable,
          progress);
      sorter.each(
          (input, line, timeNanos, fields) -> {
            if (Thread.interrupted()) {
              stopped = true;
              return false;
            }
            take(input, line, timeNanos, fields, taker, unreadable);
            return true;
          });
    }
  }

  private void report(Progress progress) {
    long read = 0;
    long total = 0;
    for (OpenedInput opened : inputs) {
      long bytes = opened.input().totalBytes();
      read += opened.input().bytesRead();
      total = total < 0 || bytes < 0 ? -1 : total + bytes;
    }
    progress.at(read, total, records);
  }

  /** Returns the template of a record's request. */
  public RequestTemplate template() {
    return Objects.requireNonNull(bound);
  }

  /** Returns the format of the first input that is not empty. */
  public Format format() {
    return inputs.get(0).format();
  }

  /** Returns the column with the time. */
  public String timeColumn() {
    return timeColumn;
  }

  /**
   * Returns the unit of the numbers in that column, for example milliseconds; empty if there are
   * none.
   */
  public String timeUnit() {
    return timeUnit;
  }

  /**
   * Returns inferences and omissions, one line each: the unit of numbers, times without a zone that
   * were taken for UTC, text before the records, addresses in lists. Complete when {@link #each} is
   * done.
   */
  public List<String> notes() {
    Set<String> notes = new LinkedHashSet<>();
    timeNotes.forEach(note -> notes.add("time: " + note));
    if (inputs.stream().anyMatch(OpenedInput::assumedUtc)) {
      notes.add(UTC_NOTE);
    }
    inputs.forEach(opened -> notes.addAll(opened.notes()));
    return List.copyOf(notes);
  }

  /**
   * Returns the doubts about the input, one line each: input that broke off, lines that cannot be
   * read, values that are no keys. Complete when {@link #each} is done.
   */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    for (OpenedInput opened : inputs) {
      if (opened.broken()) {
        warnings.add(opened.brokenText());
      }
    }
    unreadable.warn(records, warnings);
    if (bound != null) {
      warnings.addAll(KeyCheck.warnings(keys, bound));
    }
    return warnings;
  }

  /** Returns whether an interrupt ended the feed before the end of the inputs. */
  public boolean stopped() {
    return stopped;
  }

  /** Returns a description of how far each input was read. */
  public List<InputRead> inputs() {
    return inputs.stream()
        .map(OpenedInput::input)
        .map(in -> new InputRead(in.name(), in.bytesRead(), in.checksum()))
        .toList();
  }

  @Override
  public void close() throws IOException {
    for (OpenedInput opened : inputs) {
      opened.close();
    }
  }
}
