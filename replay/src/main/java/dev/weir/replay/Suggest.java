package dev.weir.replay;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.traffic.Feed;
import dev.weir.traffic.Progress;
import dev.weir.traffic.Traffic;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the smallest limits that refuse at most a share of requests and of keys. Every limit that
 * is suggested has been replayed, and so has the one below it.
 */
public final class Suggest {
  /** Limits on a curve, about evenly on a scale of powers. */
  private static final int CURVE_POINTS = 24;

  private static final int FORGET_EVERY = 4096;

  private Suggest() {}

  /**
   * What to look for.
   *
   * @param windows one or more
   * @param refuseAtMost the share of requests, and of keys, that may be refused: 0 to 1
   * @param algorithm of the limits
   * @param domain of the rules to paste
   */
  public record Options(
      List<Duration> windows, double refuseAtMost, Algorithm algorithm, String domain) {
    public Options {
      windows = List.copyOf(windows);
    }
  }

  /**
   * What a limit refuses of all.
   *
   * @param limit permits per window
   * @param requests how many are refused
   * @param keys how many have a request refused
   */
  public record Refused(long limit, long requests, long keys) {}

  /**
   * What is suggested for a window.
   *
   * @param windowNanos the window
   * @param forRequests the smallest limit that refuses at most the share of requests
   * @param forKeys the smallest limit that refuses at most the share of keys anything
   * @param both the larger of the two: neither is refused more
   * @param below what one permit less refuses: more than the share, of requests or of keys; null if
   *     the limit is 0
   * @param curve what other limits refuse, by rising limit
   */
  public record Window(
      long windowNanos,
      Refused forRequests,
      Refused forKeys,
      Refused both,
      @Nullable Refused below,
      List<Refused> curve) {
    public Window {
      curve = List.copyOf(curve);
    }
  }

  /**
   * Looks for limits.
   *
   * @throws TrafficException if the options are wrong or the traffic cannot be read
   */
  public static Suggestion run(
      Traffic traffic, Options options, @Nullable Path report, Progress progress)
      throws IOException, TrafficException {
    return run(traffic, options, report, progress, Feed.standardInput());
  }

  static Suggestion run(
      Traffic traffic,
      Options options,
      @Nullable Path report,
      Progress progress,
      InputStream standard)
      throws IOException, TrafficException {
    check(traffic, options, report);
    Recording recording = Recording.read(traffic, progress, standard);
    List<Window> windows = new ArrayList<>();
    for (Duration window : options.windows()) {
      try {
        windows.add(new Search(recording.trace(), options, window.toNanos()).window());
      } catch (Stopped e) {
        if (windows.isEmpty()) {
          throw new TrafficException("suggest: stopped before any limit was found");
        }
        break; // What is found is worth showing.
      }
    }
    Suggestion suggestion = new Suggestion(options, windows, recording);
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

  /** An interrupt ends the search. */
  private static final class Stopped extends Exception {
    private static final long serialVersionUID = 1;
  }

  /** The search for one window. What has been replayed is remembered. */
  private static final class Search {
    private final Trace trace;
    private final Options options;
    private final long windowNanos;
    private final Fingerprint fingerprint = Fingerprint.seeded(0, 0);
    private final TreeMap<Long, Refused> tried = new TreeMap<>();
    private final long mostRequests;
    private final long mostKeys;

    Search(Trace trace, Options options, long windowNanos) {
      this.trace = trace;
      this.options = options;
      this.windowNanos = windowNanos;
      mostRequests = part(trace.size());
      mostKeys = part(trace.keys());
    }

    /** Returns the share of a whole: in decimals, 29 % of 100 are 29 and not 28.999... */
    private long part(long whole) {
      BigDecimal share = BigDecimal.valueOf(options.refuseAtMost());
      return share.multiply(BigDecimal.valueOf(whole)).longValue();
    }

    Window window() throws TrafficException, Stopped {
      Refused forRequests = smallest(false);
      Refused forKeys = smallest(true);
      Refused both = forRequests.limit > forKeys.limit ? forRequests : forKeys;
      Refused below = both.limit == 0 ? null : refused(both.limit - 1);
      return new Window(windowNanos, forRequests, forKeys, both, below, curve(both.limit));
    }

    private boolean enough(Refused refused, boolean keys) {
      return keys ? refused.keys <= mostKeys : refused.requests <= mostRequests;
    }

    /**
     * Returns a limit that is enough while one less is not: the smallest, for an algorithm that
     * never refuses more by a higher limit.
     */
    private Refused smallest(boolean keys) throws TrafficException, Stopped {
      long no = -1;
      long yes = 1;
      while (yes < Quota.MAX_PERMITS && !enough(refused(yes), keys)) {
        no = yes;
        yes = Math.min(Quota.MAX_PERMITS, 2 * yes);
      }
      if (!enough(refused(yes), keys)) {
        throw new TrafficException(
            "permits: records ask for more than the highest limit (expected: at most "
                + Quota.MAX_PERMITS
                + ")");
      }
      while (yes - no > 1) {
        long middle = (no + yes) >>> 1;
        if (enough(refused(middle), keys)) {
          yes = middle;
        } else {
          no = middle;
        }
      }
      return refused(yes);
    }

    private List<Refused> curve(long limit) throws TrafficException, Stopped {
      // As far to the right as anything is refused.
      long most = Math.max(1, limit);
      while (most < Quota.MAX_PERMITS && refused(most).requests > 0) {
        most = Math.min(Quota.MAX_PERMITS, 2 * most);
      }
      for (int i = 0; i <= CURVE_POINTS; i++) {
        refused(Math.round(Math.pow((double) most, i / (double) CURVE_POINTS)));
      }
      return List.copyOf(tried.tailMap(1L).values());
    }

    /** Replays all of it by that limit. */
    private Refused refused(long limit) throws TrafficException, Stopped {
      Refused known = tried.get(limit);
      if (known != null) {
        return known;
      }
      Policy policy =
          Policy.builder(new Quota(limit, windowNanos)).algorithm(options.algorithm()).build();
      MemoryStore store = trace.store();
      Binding of = store.bind(policy.name(), policy, trace.firstNanos());
      boolean[] hit = new boolean[trace.keys()];
      long requests = 0;
      long keys = 0;
      Trace.Cursor cursor = trace.cursor();
      for (long i = 1; cursor.next(); i++) {
        int key = cursor.key();
        // A key that asks for no more than the limit in all is refused by no algorithm.
        if (trace.total(key) > limit) {
          long decision = store.decide(of, fingerprint.of(key), cursor.permits(), cursor.nanos());
          if (decision == PackedDecision.KEY_SPACE_FULL) {
            throw trace.noRoom();
          }
          if (!PackedDecision.allowed(decision)) {
            requests++;
            keys += hit[key] ? 0 : 1;
            hit[key] = true;
          }
        }
        if (i % FORGET_EVERY == 0) {
          store.expire(cursor.nanos());
          if (Thread.interrupted()) {
            throw new Stopped();
          }
        }
      }
      Refused refused = new Refused(limit, requests, keys);
      tried.put(limit, refused);
      return refused;
    }
  }
}
