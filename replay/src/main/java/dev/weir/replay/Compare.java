package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Target;
import dev.weir.replay.internal.judge.Timeline;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.judge.Verdicts;
import dev.weir.replay.internal.pages.KeyPlot;
import dev.weir.replay.internal.pages.Page;
import dev.weir.rules.ShownText;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A comparison of all algorithms on the same traffic, side by side. */
public final class Compare {
  /** The time that is plotted before the algorithms' differences, in windows. */
  private static final int WINDOWS_BEFORE = 2;

  private static final int WINDOWS_AFTER = 3;
  private static final int INTERVALS = 480;

  private Compare() {}

  /**
   * The results of one algorithm.
   *
   * @param algorithm the algorithm
   * @param admitted requests
   * @param refused requests
   * @param mostInWindow the most permits that any key was admitted within any window
   * @param falseDenials requests refused although what the key was admitted left room in the window
   * @param overAdmissions requests admitted although it left none
   * @param bytesPerKey bytes of state per key, when there were most keys
   * @param decisionsPerSecond measured in this run, on one thread; the only number that differs
   *     from run to run
   */
  public record Row(
      Algorithm algorithm,
      long admitted,
      long refused,
      long mostInWindow,
      long falseDenials,
      long overAdmissions,
      long bytesPerKey,
      long decisionsPerSecond) {}

  /**
   * Runs the comparison.
   *
   * @param quota the limit, the same for all; buckets hold as many permits
   * @param key the key whose requests are plotted, {@code k=value}; null for the key that the
   *     algorithms differ most about
   * @throws TrafficException if the traffic cannot be read, or the key is not in it
   */
  public static Comparison run(
      Traffic traffic, Quota quota, @Nullable String key, @Nullable Path report, Progress progress)
      throws IOException, TrafficException {
    return run(traffic, quota, key, report, progress, TrafficReader.standardInput());
  }

  static Comparison run(
      Traffic traffic,
      Quota quota,
      @Nullable String key,
      @Nullable Path report,
      Progress progress,
      InputStream standard)
      throws IOException, TrafficException {
    List<String> problems = new ArrayList<>();
    Target.check("report", report, traffic.files(), problems);
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
    Recording recording = Recording.read(traffic, false, progress, standard);
    Trace trace = recording.trace();
    int plotted = key == null ? -1 : trace.id(key);
    if (key != null && plotted < 0) {
      throw new TrafficException(
          "key: "
              + ShownText.quoted(key)
              + " (expected: one in the input, such as "
              + trace.key(0)
              + ")");
    }
    Verdicts verdicts = new Verdicts(trace, Runtime.getRuntime().maxMemory() / 8);
    List<Policy> policies =
        Algorithm.rates().stream()
            .map(algorithm -> Policy.builder(quota).algorithm(algorithm).build())
            .toList();
    for (Policy policy : policies) {
      verdicts.warmUp(policy);
    }
    List<Row> rows = new ArrayList<>();
    for (Policy policy : policies) {
      rows.add(verdicts.run(policy));
    }
    int shown = plotted >= 0 ? plotted : verdicts.mostDisputed();
    Comparison comparison =
        new Comparison(
            quota,
            rows,
            trace.size(),
            trace.keys(),
            new KeyPlot(
                trace.key(shown), key != null, verdicts.disputed(), plots(verdicts, shown, quota)),
            recording);
    if (report != null) {
      Page.write(report, ComparePage.of(traffic, comparison, report));
    }
    return comparison;
  }

  /**
   * Returns a timeline of the key for each algorithm, around the window in which they differ most.
   */
  private static List<Timeline> plots(Verdicts verdicts, int key, Quota quota) {
    long window = quota.windowNanos();
    long center = verdicts.mostDisputedNanos(key, window);
    long from = center - WINDOWS_BEFORE * window;
    long to = center + WINDOWS_AFTER * window;
    List<Timeline> timelines = new ArrayList<>();
    for (int i = 0; i < Algorithm.rates().size(); i++) {
      Timeline timeline = new Timeline(INTERVALS);
      verdicts.each(
          key,
          i,
          (nanos, permits, admitted) -> {
            if (nanos >= from && nanos < to) {
              timeline.add(nanos, permits, !admitted);
            }
          });
      timelines.add(timeline);
    }
    return timelines;
  }
}
