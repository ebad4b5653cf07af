package dev.weir.traffic;

import dev.weir.rules.Request;
import dev.weir.traffic.internal.check.KeyCheck;
import dev.weir.traffic.internal.check.UnreadableTally;
import dev.weir.traffic.internal.read.Durations;
import dev.weir.traffic.internal.read.OpenedInput;
import dev.weir.traffic.internal.read.Order;
import dev.weir.traffic.internal.read.RecordSorter;
import dev.weir.traffic.internal.read.RecordValues;
import dev.weir.traffic.internal.values.UnreadableException;
import java.io.Closeable;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Traffic as requests, one after the other. Of several inputs, the earliest record always comes
 * next; or all records are sorted by time.
 *
 * <p>An interrupt of the thread ends the reading early and is cleared; {@link #stopped} is then
 * true.
 */
public final class TrafficReader implements Closeable {
  /*
   * How is a TrafficReader designed, and why? OpenedInputs has all inputs with their columns and
   * the kind of their times. One record of each input is in a queue by time: the earliest is
   * passed on and its input read further. With one input there is no queue. Sorting puts the same
   * stream through a RecordSorter. With durations, it is sorted by the begins of requests. On the
   * way, Order, KeyCheck and UnreadableTally examine each record, which costs a comparison or two;
   * their doubts are the warnings at the end. RequestTemplate defines what a record means, a
   * RecordReader how it is written.
   */

  /** The advice for traffic that does not fit the heap. */
  public static final String MORE_HEAP = "give it more with -Xmx, as in WEIR_JAVA_OPTS=-Xmx4g";

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
     * @param timeNanos its time in nanoseconds since the Unix epoch; that of the request's begin if
     *     durations are read
     * @param load the load in the record, NaN if there is none
     * @param durationNanos the time that the request took, in nanoseconds; -1 if it is not known
     */
    void take(
        int input, long line, long timeNanos, Request request, double load, long durationNanos)
        throws IOException, TrafficException;
  }

  /** A receiver of lines that cannot be read. */
  public interface UnreadableLines {
    void unreadable(String input, long line, String reason);
  }

  private final Traffic traffic;
  private final OpenedInputs inputs;
  private final RequestTemplate template;
  private final int columns;
  private final @Nullable Durations durations;
  private final List<List<KeyCheck>> keys;
  private final int sortBytes;
  private final Order order = new Order();
  private final UnreadableTally unreadable = new UnreadableTally();
  private boolean stopped;
  private long records;

  private TrafficReader(
      Traffic traffic, OpenedInputs inputs, RequestTemplate template, boolean timed, int sortBytes)
      throws IOException, TrafficException {
    this.traffic = traffic;
    this.inputs = inputs;
    this.template = template;
    this.sortBytes = sortBytes;
    columns = inputs.bind(template, timed || traffic.duration() != null);
    durations = inputs.durations();
    keys = KeyCheck.of(template);
  }

  /**
   * Opens all inputs and finds their columns.
   *
   * @param template the template of a record's request, or null for the column with a usual name
   *     for a key
   * @param standard the stream that {@link Traffic#STANDARD_INPUT} stands for
   * @throws TrafficException if that cannot be done; its message lists all problems
   */
  public static TrafficReader open(
      Traffic traffic, @Nullable RequestTemplate template, InputStream standard)
      throws IOException, TrafficException {
    return open(traffic, template, standard, false, sortBytes());
  }

  /**
   * Opens all inputs as {@link #open} does, and reads how long each request took if all inputs show
   * it. Then {@link #durations} is not null, and requests come in the order in which they began.
   * They are sorted in the same bounded memory as with {@link Traffic#sort}.
   *
   * @throws TrafficException if that cannot be done; its message lists all problems
   */
  public static TrafficReader openTimed(
      Traffic traffic, @Nullable RequestTemplate template, InputStream standard)
      throws IOException, TrafficException {
    return open(traffic, template, standard, true, sortBytes());
  }

  private static int sortBytes() {
    return (int) Math.min(SORT_BYTES, Runtime.getRuntime().maxMemory() / 8);
  }

  static TrafficReader open(
      Traffic traffic,
      @Nullable RequestTemplate template,
      InputStream standard,
      boolean timed,
      int sortBytes)
      throws IOException, TrafficException {
    OpenedInputs inputs = OpenedInputs.of(traffic, standard);
    try {
      RequestTemplate used = template == null ? inputs.usualTemplate() : template;
      return new TrafficReader(traffic, inputs, used, timed, sortBytes);
    } catch (IOException | TrafficException e) {
      inputs.close();
      throw e;
    }
  }

  /** Returns standard input such that an interrupt ends a blocked read. */
  public static InputStream standardInput() {
    return Channels.newInputStream(new FileInputStream(FileDescriptor.in).getChannel());
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
    if (sorts()) {
      sorted(taker, all, progress);
    } else {
      merged(opened -> take(opened, opened.values(), taker, all), all, progress);
    }
    report(progress);
    if (!traffic.anyOrder() && !stopped) {
      if (!order.setBack().isEmpty()) {
        throw new TrafficException(order.setBack());
      }
      if (!sorts()) {
        order.check(MAX_OUT_OF_ORDER_PERCENT, !Format.GENERAL.contains(format()));
      }
    }
  }

  /**
   * Returns whether the records are sorted: a log in the order of ends is in no order of begins.
   */
  private boolean sorts() {
    return traffic.sort() || durations != null;
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
    for (OpenedInput opened : inputs.all()) {
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
    stopped = inputs.all().stream().anyMatch(OpenedInput::stopped) && Thread.interrupted();
  }

  private static void advance(
      OpenedInput opened, PriorityQueue<OpenedInput> heads, UnreadableLines unreadable)
      throws IOException {
    if (opened.next(unreadable)) {
      heads.add(opened);
    }
  }

  private void take(
      OpenedInput opened, RecordValues values, Taker taker, UnreadableLines unreadable)
      throws IOException, TrafficException {
    take(opened.number(), opened.line(), opened.timeNanos(), values, taker, unreadable);
  }

  private void take(
      int input,
      long line,
      long timeNanos,
      RecordValues values,
      Taker taker,
      UnreadableLines unreadable)
      throws IOException, TrafficException {
    try {
      Request request = template.request(values);
      double load = template.load(values);
      KeyCheck.check(keys, request);
      long took = durations == null ? -1 : durations.nanos(values, timeNanos);
      taker.take(input, line, timeNanos, request, load, took);
    } catch (UnreadableException e) {
      unreadable.unreadable(traffic.inputs().get(input), line, e.reason());
    }
  }

  private void sorted(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    try (RecordSorter sorter = new RecordSorter(columns, sortBytes)) {
      merged(
          opened -> sorter.add(opened.number(), opened.line(), sortNanos(opened), opened.values()),
          unreadable,
          progress);
      sorter.each(
          (input, line, timeNanos, values) -> {
            if (Thread.interrupted()) {
              stopped = true;
              return false;
            }
            take(input, line, timeNanos, values, taker, unreadable);
            return true;
          });
    }
  }

  /** Returns the time by which a record is sorted. */
  private long sortNanos(OpenedInput opened) {
    return durations == null
        ? opened.timeNanos()
        : durations.begin(opened.values(), opened.timeNanos());
  }

  private void report(Progress progress) {
    long read = 0;
    long total = 0;
    for (OpenedInput opened : inputs.all()) {
      long bytes = opened.input().totalBytes();
      read += opened.input().bytesRead();
      total = total < 0 || bytes < 0 ? -1 : total + bytes;
    }
    progress.at(read, total, records);
  }

  /** Returns the template of a record's request. */
  public RequestTemplate template() {
    return template;
  }

  /** Returns the format of the first input that is not empty. */
  public Format format() {
    return inputs.format();
  }

  /** Returns the column with the time. */
  public String timeColumn() {
    return inputs.timeColumn();
  }

  /**
   * Returns the unit of the numbers in that column, for example milliseconds; empty if there are
   * none.
   */
  public String timeUnit() {
    return inputs.timeUnit();
  }

  /**
   * Returns a description of the durations that the records have; null if none are read. Complete
   * when {@link #each} is done.
   */
  public @Nullable RequestDurations durations() {
    return durations == null ? null : durations.read();
  }

  /**
   * Returns the reason why the records have no durations, and what would help, as one line; empty
   * if they have, or if they were not opened with {@link #openTimed}.
   */
  public String noDurations() {
    return inputs.noDurations();
  }

  /**
   * Returns inferences and omissions, one line each: the unit of numbers, times without a zone that
   * were taken for UTC, text before the records, addresses in lists. Complete when {@link #each} is
   * done.
   */
  public List<String> notes() {
    return inputs.notes();
  }

  /**
   * Returns the doubts about the input, one line each: input that broke off, lines that cannot be
   * read, values that are no keys. Complete when {@link #each} is done.
   */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>();
    for (OpenedInput opened : inputs.all()) {
      if (opened.broken()) {
        warnings.add(opened.brokenText());
      }
    }
    unreadable.warn(records, warnings);
    if (durations != null) {
      durations.read().warn(records - unreadable.count(), warnings);
    }
    warnings.addAll(KeyCheck.warnings(keys, template));
    return warnings;
  }

  /** Returns whether an interrupt ended the reading before the end of the inputs. */
  public boolean stopped() {
    return stopped;
  }

  /** Returns a description of how far each input was read. */
  public List<InputRead> inputs() {
    return inputs.all().stream()
        .map(OpenedInput::input)
        .map(in -> new InputRead(in.name(), in.bytesRead(), in.checksum()))
        .toList();
  }

  @Override
  public void close() throws IOException {
    inputs.close();
  }
}
