package dev.weir.traffic;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.ShownText;
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
import org.jspecify.annotations.Nullable;

/**
 * Traffic as requests, one after the other: of several inputs always the earliest record next, or
 * all sorted by time.
 *
 * <p>An interrupt of the thread ends it early and is cleared; {@link #stopped} says so.
 */
public final class Feed implements Closeable {
  /** What to do where traffic does not fit the heap. */
  public static final String MORE_HEAP = "give it more with -Xmx, as in WEIR_JAVA_OPTS=-Xmx4g";

  /** Progress is reported once in this many records, a power of two. */
  private static final int REPORT_EVERY = 4096;

  /** About what a record takes that waits to be sorted, and each of its entries beside the text. */
  private static final int HELD_BYTES = 200;

  private static final int ENTRY_BYTES = 100;

  /** Takes a request. */
  public interface Taker {
    /**
     * Takes it.
     *
     * @param input the input's number, from 0
     * @param line the record's first line there, from 1
     * @param timeNanos its time in nanoseconds since the Unix epoch
     * @param load the load in the record, NaN if there is none
     */
    void take(int input, long line, long timeNanos, Request request, double load)
        throws IOException, TrafficException;
  }

  /** Receives lines that cannot be read. */
  public interface UnreadableLines {
    void unreadable(String input, long line, String reason);
  }

  private record Held(int input, long line, long timeNanos, Request request, double load) {}

  private final Traffic traffic;
  private @Nullable RequestTemplate bound;
  private final List<Source> sources = new ArrayList<>();
  private final long maxHeldBytes;
  private String timeColumn = "";
  private boolean stopped;
  private long records;

  private Feed(Traffic traffic, long maxHeldBytes) {
    this.traffic = traffic;
    this.maxHeldBytes = maxHeldBytes;
  }

  /**
   * Opens all inputs and finds their columns.
   *
   * @param template what a record is, or null for its column with a usual name for a key
   * @param standard what {@link Traffic#STANDARD_INPUT} stands for
   * @throws TrafficException if that cannot be done; says everything that is wrong
   */
  public static Feed open(Traffic traffic, @Nullable RequestTemplate template, InputStream standard)
      throws IOException, TrafficException {
    return open(traffic, template, standard, Runtime.getRuntime().maxMemory() / 2);
  }

  static Feed open(
      Traffic traffic, @Nullable RequestTemplate template, InputStream standard, long maxHeldBytes)
      throws IOException, TrafficException {
    Feed feed = new Feed(traffic, maxHeldBytes);
    try {
      feed.openAll(standard);
      feed.bind(template == null ? feed.usual() : template);
      return feed;
    } catch (IOException | TrafficException e) {
      feed.close();
      throw e;
    }
  }

  /** Returns standard input such that an interrupt ends a read that waits for it. */
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
        Source source = Source.open(i, names.get(i), traffic.format(), names.size() > 1, standard);
        if (source != null) {
          sources.add(source);
        }
      } catch (TrafficException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    if (sources.isEmpty()) {
      throw new TrafficException("input: all empty (expected: records in one at least)");
    }
  }

  /** Chooses the columns: the time's goes to slot 0. The first input decides which that is. */
  private void bind(RequestTemplate template) throws TrafficException {
    List<String> problems = new ArrayList<>();
    Set<String> wanted = new LinkedHashSet<>();
    TimeReader.Unit unit = TimeReader.Unit.BY_SIZE;
    try {
      Detection.TimeColumn time = Detection.timeColumn(traffic.time(), sources.get(0).reader());
      timeColumn = time.name();
      unit = time.unit();
      wanted.add(timeColumn);
    } catch (TrafficException e) {
      problems.addAll(e.problems());
    }
    template.resolve(
        name -> sources.stream().allMatch(each -> each.reader().columns().contains(name)));
    wanted.addAll(template.columns());
    List<String> columns = List.copyOf(wanted);
    for (Source source : sources) {
      for (String column : columns) {
        if (!source.reader().has(column)) {
          problems.add(
              "column "
                  + ShownText.quoted(column)
                  + (sources.size() > 1 ? " of " + source.input().name() : "")
                  + ": unknown (expected: one of "
                  + ShownText.listed(source.reader().columns())
                  + ")");
        }
      }
    }
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    Set<String> required = template.required();
    required.add(timeColumn);
    for (Source source : sources) {
      source.want(columns, required, unit);
    }
    template.bind(columns);
    bound = template;
  }

  private RequestTemplate usual() throws TrafficException {
    String column = Detection.keyColumn(sources.get(0).reader().columns());
    return RequestTemplate.of("", List.of(column + "={" + column + "}"), traffic.permits());
  }

  /** Hands on all requests, and all lines that are not requests. */
  public void each(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    if (traffic.sort()) {
      sorted(taker, unreadable, progress);
    } else {
      merged(taker, unreadable, progress);
    }
    report(progress);
  }

  private void merged(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    PriorityQueue<Source> heads =
        new PriorityQueue<>(
            Comparator.comparingLong(Source::timeNanos).thenComparingInt(Source::number));
    UnreadableLines counted =
        (input, line, reason) -> {
          records++;
          unreadable.unreadable(input, line, reason);
        };
    for (Source source : sources) {
      advance(source, heads, counted);
    }
    while (!heads.isEmpty()) {
      Source source = heads.remove();
      do {
        take(source, taker, unreadable);
        if ((++records & (REPORT_EVERY - 1)) == 0) {
          report(progress);
        }
        if (Thread.interrupted()) {
          stopped = true;
          return;
        }
      } while (heads.isEmpty() && source.next(counted));
      if (!heads.isEmpty()) {
        advance(source, heads, counted);
      }
    }
    stopped = sources.stream().anyMatch(Source::stopped) && Thread.interrupted();
  }

  private static void advance(
      Source source, PriorityQueue<Source> heads, UnreadableLines unreadable) throws IOException {
    if (source.next(unreadable)) {
      heads.add(source);
    }
  }

  private void take(Source source, Taker taker, UnreadableLines unreadable)
      throws IOException, TrafficException {
    try {
      Request request = template().request(source.fields());
      double load = template().load(source.fields());
      taker.take(source.number(), source.line(), source.timeNanos(), request, load);
    } catch (Unreadable e) {
      unreadable.unreadable(source.input().name(), source.line(), e.reason());
    }
  }

  private void sorted(Taker taker, UnreadableLines unreadable, Progress progress)
      throws IOException, TrafficException {
    List<Held> held = new ArrayList<>();
    long[] bytes = {0};
    merged(
        (input, line, timeNanos, request, load) -> {
          held.add(new Held(input, line, timeNanos, request, load));
          bytes[0] += size(request);
          if (bytes[0] > maxHeldBytes) {
            throw new TrafficException(
                "sort: more than "
                    + held.size()
                    + " records (expected: as many as half of the heap of "
                    + (maxHeldBytes >> 19)
                    + " MiB holds; "
                    + MORE_HEAP
                    + ", or sort the file beforehand)");
          }
        },
        unreadable,
        progress);
    held.sort(Comparator.comparingLong(Held::timeNanos)); // Stable: equals stay in their order.
    for (Held each : held) {
      if (Thread.interrupted()) {
        stopped = true;
        return;
      }
      taker.take(each.input, each.line, each.timeNanos, each.request, each.load);
    }
  }

  private static long size(Request request) {
    long bytes = HELD_BYTES;
    for (Descriptor descriptor : request.descriptors()) {
      for (Entry entry : descriptor.entries()) {
        bytes += ENTRY_BYTES + 2L * entry.value().length();
      }
    }
    return bytes;
  }

  private void report(Progress progress) {
    long read = 0;
    long total = 0;
    for (Source source : sources) {
      long bytes = source.input().totalBytes();
      read += source.input().bytesRead();
      total = total < 0 || bytes < 0 ? -1 : total + bytes;
    }
    progress.at(read, total, records);
  }

  /** Returns what a record is. */
  public RequestTemplate template() {
    return Objects.requireNonNull(bound);
  }

  /** Returns how the inputs are written: the first one that has anything. */
  public Format format() {
    return sources.get(0).format();
  }

  /** Returns the column with the time. */
  public String timeColumn() {
    return timeColumn;
  }

  /** Returns whether an interrupt ended it before the end of the inputs. */
  public boolean stopped() {
    return stopped;
  }

  /** Returns what has been read of each input. */
  public List<InputRead> inputs() {
    return sources.stream()
        .map(Source::input)
        .map(in -> new InputRead(in.name(), in.bytesRead(), in.checksum()))
        .toList();
  }

  @Override
  public void close() throws IOException {
    for (Source source : sources) {
      source.close();
    }
  }
}
