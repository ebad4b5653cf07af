package dev.weir.replay;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
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
 * <p>An interrupt of the thread ends it early and is cleared; {@link #stopped} tells.
 */
final class Feed implements Closeable {
  /** Progress is reported once in so many records, a power of two. */
  private static final int REPORT_EVERY = 4096;

  /** About what a record takes that waits to be sorted, and each of its entries beside the text. */
  private static final int HELD_BYTES = 200;

  private static final int ENTRY_BYTES = 100;

  /** Takes a request. */
  interface Taker {
    /**
     * Takes it.
     *
     * @param input the input's number, from 0
     * @param line the record's first line there, from 1
     * @param timeNanos its time in nanoseconds since the Unix epoch
     * @param load what it tells of the load, not a number if nothing
     */
    void take(int input, long line, long timeNanos, Request request, double load)
        throws IOException, ReplayException;
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

  static Feed open(Traffic traffic, @Nullable RequestTemplate template, InputStream standard)
      throws IOException, ReplayException {
    return open(traffic, template, standard, Runtime.getRuntime().maxMemory() / 2);
  }

  /**
   * Opens all inputs and finds their columns.
   *
   * @param template what a record is, or null for its column with a usual name for a key
   * @throws ReplayException if that cannot be done; says everything that is wrong
   */
  static Feed open(
      Traffic traffic, @Nullable RequestTemplate template, InputStream standard, long maxHeldBytes)
      throws IOException, ReplayException {
    Feed feed = new Feed(traffic, maxHeldBytes);
    try {
      feed.openAll(standard);
      feed.bind(template == null ? feed.usual() : template);
      return feed;
    } catch (IOException | ReplayException e) {
      feed.close();
      throw e;
    }
  }

  private void openAll(InputStream standard) throws IOException, ReplayException {
    List<String> problems = new ArrayList<>();
    List<String> names = traffic.inputs();
    if (names.isEmpty() || names.size() > Traffic.MAX_INPUTS) {
      throw new ReplayException(
          "input: " + names.size() + " (expected: 1.." + Traffic.MAX_INPUTS + " files)");
    }
    if (names.indexOf(Input.STANDARD) != names.lastIndexOf(Input.STANDARD)) {
      throw new ReplayException("input: - several times (expected: standard input once)");
    }
    for (int i = 0; i < names.size(); i++) {
      try {
        Source source = Source.open(i, names.get(i), traffic.format(), names.size() > 1, standard);
        if (source != null) {
          sources.add(source);
        }
      } catch (ReplayException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new ReplayException(problems);
    }
    if (sources.isEmpty()) {
      throw new ReplayException("input: all empty (expected: records in one at least)");
    }
  }

  /** Chooses the columns: the time's goes to slot 0. The first input tells which that is. */
  private void bind(RequestTemplate template) throws ReplayException {
    List<String> problems = new ArrayList<>();
    Set<String> wanted = new LinkedHashSet<>();
    TimeReader.Unit unit = TimeReader.Unit.BY_SIZE;
    try {
      Detection.TimeColumn time = Detection.timeColumn(traffic.time(), sources.get(0).reader());
      timeColumn = time.name();
      unit = time.unit();
      wanted.add(timeColumn);
    } catch (ReplayException e) {
      problems.addAll(e.problems());
    }
    wanted.addAll(template.columns());
    List<String> columns = List.copyOf(wanted);
    for (Source source : sources) {
      for (String column : columns) {
        if (!source.reader().has(column)) {
          problems.add(
              "column "
                  + Shown.quoted(column)
                  + (sources.size() > 1 ? " of " + source.input().name() : "")
                  + ": unknown (expected: one of "
                  + Detection.listed(source.reader().columns())
                  + ")");
        }
      }
    }
    if (!problems.isEmpty()) {
      throw new ReplayException(problems);
    }
    for (Source source : sources) {
      source.want(columns, unit);
    }
    template.bind(columns);
    bound = template;
  }

  private RequestTemplate usual() throws ReplayException {
    String column = Detection.keyColumn(sources.get(0).reader().columns());
    return RequestTemplate.of("", List.of(column + "={" + column + "}"), traffic.permits());
  }

  /** Has all requests taken, and all lines told of that are none. */
  void each(Taker taker, Source.UnreadableLines unreadable, Progress progress)
      throws IOException, ReplayException {
    if (traffic.sort()) {
      sorted(taker, unreadable, progress);
    } else {
      merged(taker, unreadable, progress);
    }
    report(progress);
  }

  private void merged(Taker taker, Source.UnreadableLines unreadable, Progress progress)
      throws IOException, ReplayException {
    PriorityQueue<Source> heads =
        new PriorityQueue<>(
            Comparator.comparingLong(Source::timeNanos).thenComparingInt(Source::number));
    Source.UnreadableLines counted =
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
      Source source, PriorityQueue<Source> heads, Source.UnreadableLines unreadable)
      throws IOException {
    if (source.next(unreadable)) {
      heads.add(source);
    }
  }

  private void take(Source source, Taker taker, Source.UnreadableLines unreadable)
      throws IOException, ReplayException {
    try {
      Request request = template().request(source.fields());
      double load = template().load(source.fields());
      taker.take(source.number(), source.line(), source.timeNanos(), request, load);
    } catch (Unreadable e) {
      unreadable.unreadable(source.input().name(), source.line(), e.reason());
    }
  }

  private void sorted(Taker taker, Source.UnreadableLines unreadable, Progress progress)
      throws IOException, ReplayException {
    List<Held> held = new ArrayList<>();
    long[] bytes = {0};
    merged(
        (input, line, timeNanos, request, load) -> {
          held.add(new Held(input, line, timeNanos, request, load));
          bytes[0] += size(request);
          if (bytes[0] > maxHeldBytes) {
            throw new ReplayException(
                "sort: more than "
                    + held.size()
                    + " records (expected: as many as half of the heap of "
                    + (maxHeldBytes >> 19)
                    + " MiB holds; "
                    + Trace.MORE_HEAP
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
  RequestTemplate template() {
    return Objects.requireNonNull(bound);
  }

  /** Returns how the inputs are written: the first one that has anything. */
  Format format() {
    return sources.get(0).format();
  }

  String timeColumn() {
    return timeColumn;
  }

  /** Returns whether an interrupt ended it before the end of the inputs. */
  boolean stopped() {
    return stopped;
  }

  /** Returns what has been read of each input. */
  List<ReplaySummary.InputRead> inputs() {
    return sources.stream()
        .map(Source::input)
        .map(in -> new ReplaySummary.InputRead(in.name(), in.bytesRead(), in.checksum()))
        .toList();
  }

  @Override
  public void close() throws IOException {
    for (Source source : sources) {
      source.close();
    }
  }
}
