package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Target;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.pages.Figures;
import dev.weir.replay.internal.pages.Page;
import dev.weir.replay.internal.suggest.LimitSearch;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import dev.weir.traffic.TrafficReader;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A search for the smallest limits that refuse at most a share of requests and of keys. Every limit
 * that is suggested has been replayed, and so has the one below it.
 */
public final class LimitSuggestions {
  /** The number of limits on a curve, spread about evenly on a scale of powers. */
  private static final int CURVE_POINTS = 24;

  private static final int MOST_HEADROOM = 100;

  private LimitSuggestions() {}

  /**
   * The options of a search.
   *
   * @param windows the windows, one or more
   * @param refuseAtMost the share of requests, and of keys, that may be refused: 0 to 1
   * @param algorithm the algorithm of the limits
   * @param domain the domain of the rules to paste
   * @param headroom the share by which the suggested limit is above the smallest: 0.2 for a fifth
   *     more; 0 to 100
   * @param ignoreTop the number of keys that are left out: those that request the most, for example
   *     attackers
   */
  public record Options(
      List<Duration> windows,
      double refuseAtMost,
      Algorithm algorithm,
      String domain,
      double headroom,
      int ignoreTop) {
    public Options {
      windows = List.copyOf(windows);
    }

    /** Options without headroom and with all keys. */
    public Options(
        List<Duration> windows, double refuseAtMost, Algorithm algorithm, String domain) {
      this(windows, refuseAtMost, algorithm, domain, 0, 0);
    }

    /** Returns the share of a whole, computed in decimals: 29 % of 100 are 29 and not 28.999... */
    long part(long whole) {
      return BigDecimal.valueOf(refuseAtMost).multiply(BigDecimal.valueOf(whole)).longValue();
    }

    /** Returns a limit with the headroom, at most the highest limit. */
    long withHeadroom(long limit, long highest) {
      BigDecimal more = BigDecimal.valueOf(headroom).add(BigDecimal.ONE);
      BigDecimal room = more.multiply(BigDecimal.valueOf(limit));
      return room.setScale(0, RoundingMode.CEILING).min(BigDecimal.valueOf(highest)).longValue();
    }
  }

  /**
   * The refusals by a limit.
   *
   * @param limit the permits per window
   * @param requests the number of refused requests
   * @param permits the permits that these requested
   * @param keys the number of keys with a refused request
   * @param worstKey the key of which the most requests are refused; empty if none is
   * @param worstRequests the number of its refused requests
   */
  public record RefusalCount(
      long limit, long requests, long permits, long keys, String worstKey, long worstRequests) {
    static RefusalCount of(LimitSearch.TriedLimit tried, Trace trace) {
      return new RefusalCount(
          tried.limit(),
          tried.requests(),
          tried.permits(),
          tried.keys(),
          tried.worst() < 0 ? "" : trace.key(tried.worst()),
          tried.worstRequests());
    }
  }

  /**
   * The suggestion for a window.
   *
   * @param windowNanos the window
   * @param forRequests the smallest limit that refuses at most the share of requests
   * @param forKeys the smallest limit at which at most the share of keys has a refused request
   * @param both the larger of the two: it meets both shares
   * @param below the refusals by one permit less: more than the share, of requests or of keys; null
   *     if the limit is 0
   * @param suggested the refusals by the limit for both with its headroom
   * @param curve the refusals by other limits, by rising limit
   */
  public record Window(
      long windowNanos,
      RefusalCount forRequests,
      RefusalCount forKeys,
      RefusalCount both,
      @Nullable RefusalCount below,
      RefusalCount suggested,
      List<RefusalCount> curve) {
    public Window {
      curve = List.copyOf(curve);
    }
  }

  /**
   * Searches for limits.
   *
   * @throws TrafficException if the options are wrong or the traffic cannot be read
   */
  public static Suggestion run(
      Traffic traffic, Options options, @Nullable Path report, Progress progress)
      throws IOException, TrafficException {
    return run(traffic, options, report, progress, TrafficReader.standardInput());
  }

  /**
   * Searches for limits by each descriptor of the traffic by itself, and writes one page for all.
   * The traffic is read anew for each.
   *
   * @throws TrafficException for the same reasons as {@link #run}; also if standard input would
   *     have to be read twice
   */
  public static Suggestions runEach(
      Traffic traffic, Options options, @Nullable Path report, Progress progress)
      throws IOException, TrafficException {
    List<String> descriptors = traffic.descriptors();
    if (descriptors.size() < 2) {
      return new Suggestions(List.of(run(traffic, options, report, progress)));
    }
    if (traffic.inputs().contains("-")) {
      throw new TrafficException("input: - (expected: a file, with several descriptors)");
    }
    check(traffic, options, report);
    List<Suggestion> all = new ArrayList<>();
    for (String each : descriptors) {
      all.add(run(traffic.withDescriptor(each), options, null, progress));
    }
    Suggestions suggestions = new Suggestions(all);
    if (report != null) {
      Page.write(report, SuggestPage.of(traffic, suggestions, report));
    }
    return suggestions;
  }

  static Suggestion run(
      Traffic traffic,
      Options options,
      @Nullable Path report,
      Progress progress,
      InputStream standard)
      throws IOException, TrafficException {
    check(traffic, options, report);
    Recording recording = Recording.read(traffic, true, progress, standard);
    IgnoredKeys ignored = IgnoredKeys.of(recording.trace(), options.ignoreTop());
    if (ignored.ids().size() == recording.trace().keys()) {
      throw new TrafficException(
          "ignore-top: "
              + options.ignoreTop()
              + " of "
              + recording.trace().keys()
              + " keys (expected: fewer, so that one is left)");
    }
    List<Window> windows = new ArrayList<>();
    for (Duration window : windows(options, recording.trace())) {
      try {
        windows.add(new Search(recording, options, ignored, window.toNanos()).window());
      } catch (LimitSearch.StoppedException e) {
        if (windows.isEmpty()) {
          throw new TrafficException("suggest: stopped before any limit was found");
        }
        break; // The limits found so far are worth showing.
      }
    }
    Suggestion suggestion =
        new Suggestion(options, windows, recording, ignored)
            .with(SeatSuggestion.of(recording, options, ignored));
    if (report != null) {
      Page.write(report, SuggestPage.of(traffic, suggestion, report));
    }
    return suggestion;
  }

  private static void check(Traffic traffic, Options options, @Nullable Path report)
      throws TrafficException {
    List<String> problems = new ArrayList<>();
    if (!(options.refuseAtMost() >= 0 && options.refuseAtMost() <= 1)) {
      problems.add("refuseAtMost: " + options.refuseAtMost() + " (expected: 0 to 1)");
    }
    if (!(options.headroom() >= 0 && options.headroom() <= MOST_HEADROOM)) {
      problems.add("headroom: " + options.headroom() + " (expected: 0 to " + MOST_HEADROOM + ")");
    }
    if (options.ignoreTop() < 0) {
      problems.add("ignore-top: " + options.ignoreTop() + " (expected: 0 or more)");
    }
    if (options.windows().isEmpty()) {
      problems.add("window: none (expected: one at least)");
    }
    for (Duration window : options.windows()) {
      try {
        Quota.of(1, window);
      } catch (IllegalArgumentException e) {
        problems.add("window: " + window + " (expected: 1 ms to 366 days)");
      }
    }
    Target.check("report", report, traffic.files(), problems);
    if (!problems.isEmpty()) {
      throw new TrafficException(problems);
    }
  }

  /** Returns the windows that the traffic fills. */
  private static List<Duration> windows(Options options, Trace trace) throws TrafficException {
    long span = trace.lastNanos() - trace.firstNanos();
    List<Duration> fitting =
        options.windows().stream().filter(each -> each.toNanos() <= span).toList();
    if (fitting.isEmpty()) {
      throw new TrafficException(
          "window: longer than the traffic, "
              + Figures.length(span)
              + " (expected: one at least that is not)");
    }
    return fitting;
  }

  /** A search for one window. */
  private static final class Search {
    private final Recording recording;
    private final Options options;
    private final long windowNanos;
    private final LimitSearch limits;
    private final long mostRequests;
    private final long mostKeys;

    Search(Recording recording, Options options, IgnoredKeys ignored, long windowNanos) {
      this.recording = recording;
      this.options = options;
      this.windowNanos = windowNanos;
      Trace trace = recording.trace();
      limits =
          new LimitSearch(
              trace,
              limit ->
                  Policy.builder(new Quota(limit, windowNanos))
                      .algorithm(options.algorithm())
                      .build(),
              ignored.ids());
      mostRequests = options.part(trace.size() - ignored.requests());
      mostKeys = options.part(trace.keys() - ignored.ids().size());
    }

    Window window() throws TrafficException, LimitSearch.StoppedException {
      RefusalCount forRequests = of(limits.smallest(each -> each.requests() <= mostRequests));
      RefusalCount forKeys = of(limits.smallest(each -> each.keys() <= mostKeys));
      RefusalCount both = forRequests.limit > forKeys.limit ? forRequests : forKeys;
      RefusalCount below = both.limit == 0 ? null : of(limits.refused(both.limit - 1));
      RefusalCount suggested =
          of(limits.refused(options.withHeadroom(both.limit, Quota.MAX_PERMITS)));
      return new Window(
          windowNanos, forRequests, forKeys, both, below, suggested, curve(both.limit));
    }

    private List<RefusalCount> curve(long limit)
        throws TrafficException, LimitSearch.StoppedException {
      // The curve reaches as far to the right as any request is refused.
      long most = Math.max(1, limit);
      while (most < Quota.MAX_PERMITS && limits.refused(most).requests() > 0) {
        most = Math.min(Quota.MAX_PERMITS, 2 * most);
      }
      for (int i = 0; i <= CURVE_POINTS; i++) {
        Object unused =
            limits.refused(Math.round(Math.pow((double) most, i / (double) CURVE_POINTS)));
      }
      return limits.tried(1).stream().map(this::of).toList();
    }

    private RefusalCount of(LimitSearch.TriedLimit tried) {
      return RefusalCount.of(tried, recording.trace());
    }
  }

  /**
   * The keys that are left out: those that request the most.
   *
   * @param ids their numbers in the trace
   * @param requests the number of their requests
   */
  record IgnoredKeys(Set<Integer> ids, long requests) {
    static IgnoredKeys of(Trace trace, int most) {
      List<Integer> ids = new ArrayList<>();
      for (int id = 0; id < trace.keys(); id++) {
        ids.add(id);
      }
      ids.sort(Comparator.comparingLong(trace::total).reversed());
      Set<Integer> first = new LinkedHashSet<>(ids.subList(0, Math.min(most, ids.size())));
      return new IgnoredKeys(first, first.stream().mapToLong(trace::count).sum());
    }
  }
}
