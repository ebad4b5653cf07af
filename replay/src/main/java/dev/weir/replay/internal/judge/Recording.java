package dev.weir.replay.internal.judge;

import dev.weir.replay.ReplaySummary;
import dev.weir.replay.ReplaySummary.UnreadableLine;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.traffic.Progress;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Traffic that was read completely.
 *
 * @param trace the records
 * @param template the template of a record's request
 * @param source a description of how it was read
 * @param unreadable the number of lines that could not be read
 * @param unreadableLines the first of these lines
 * @param warnings the doubts about the input, one line each
 * @param stopped true if an interrupt ended it early
 */
public record Recording(
    Trace trace,
    RequestTemplate template,
    ReplaySummary.Source source,
    long unreadable,
    List<UnreadableLine> unreadableLines,
    List<String> warnings,
    boolean stopped) {

  /**
   * Reads traffic. Without a descriptor, a column with a usual name for a key becomes the
   * descriptor.
   *
   * @param timed true to read how long requests took as well, if the traffic shows it; they then
   *     come in the order of their begins
   * @throws TrafficException if it cannot be read or does not fit half of the heap
   */
  public static Recording read(
      Traffic traffic, boolean timed, Progress progress, InputStream standard)
      throws IOException, TrafficException {
    RequestTemplate template =
        traffic.descriptors().isEmpty()
            ? null
            : RequestTemplate.of("", traffic.descriptors(), traffic.permits());
    if (traffic.descriptors().size() > 1) {
      throw new TrafficException(
          "descriptor: " + traffic.descriptors().size() + " (expected: one here)");
    }
    long[] unreadable = {0};
    List<UnreadableLine> lines = new ArrayList<>();
    try (TrafficReader reader =
        timed
            ? TrafficReader.openTimed(traffic, template, standard)
            : TrafficReader.open(traffic, template, standard)) {
      long maxBytes = Runtime.getRuntime().maxMemory() / 2;
      Trace trace = reader.durations() == null ? new Trace(maxBytes) : Trace.timed(maxBytes);
      reader.each(
          (input, line, nanos, request, load, took) -> add(trace, nanos, request, took),
          (input, line, reason) -> {
            unreadable[0]++;
            if (lines.size() < ReplaySummary.LISTED) {
              lines.add(new UnreadableLine(input, line, reason));
            }
          },
          progress);
      ReplaySummary.Source source = ReplaySummary.Source.of(reader);
      if (trace.size() == 0) {
        throw new TrafficException(
            "input: no record can be read"
                + (lines.isEmpty() ? "" : "; the first: " + lines.get(0).reason())
                + " (expected: one at least)");
      }
      return new Recording(
          trace,
          reader.template(),
          source,
          unreadable[0],
          List.copyOf(lines),
          reader.warnings(),
          reader.stopped());
    }
  }

  /** Returns a description in two lines of what was read and how. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append("  from ").append(Figures.instant(trace.firstNanos()));
    text.append(" to ").append(Figures.instant(trace.lastNanos())).append("; key ");
    text.append(Figures.plain(String.join(",", keys()))).append('\n');
    text.append("  ").append(source.text()).append('\n');
    source.notes().forEach(note -> text.append("  ").append(Figures.plain(note)).append('\n'));
    return text.toString();
  }

  private List<String> keys() {
    return template.levels().stream().map(RequestTemplate.Level::key).toList();
  }

  /** Returns the warnings, and one for each of the windows that is longer than the traffic. */
  public List<String> warnings(List<Long> windowsNanos) {
    List<String> all = new ArrayList<>(warnings);
    long span = trace.lastNanos() - trace.firstNanos();
    windowsNanos.forEach(nanos -> Warnings.window("limit", nanos, span, all));
    return List.copyOf(all);
  }

  private static void add(Trace trace, long nanos, Request request, long took)
      throws TrafficException {
    Descriptor descriptor = request.descriptors().get(0);
    List<Entry> entries = descriptor.entries();
    String key = entries.get(0).key() + '=' + entries.get(0).value();
    for (Entry entry : entries.subList(1, entries.size())) {
      key += ',' + entry.key() + '=' + entry.value();
    }
    Long permits = descriptor.permits();
    trace.add(nanos, key, permits == null ? 1 : permits, took);
  }
}
