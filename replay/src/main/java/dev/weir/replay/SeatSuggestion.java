package dev.weir.replay;

import dev.weir.Policy;
import dev.weir.engine.seats.RequestSeats;
import dev.weir.replay.LimitSuggestions.IgnoredKeys;
import dev.weir.replay.LimitSuggestions.RefusalCount;
import dev.weir.replay.internal.judge.Recording;
import dev.weir.replay.internal.judge.Trace;
import dev.weir.replay.internal.suggest.LimitSearch.StoppedException;
import dev.weir.replay.internal.suggest.LimitSearch.TriedLimit;
import dev.weir.replay.internal.suggest.SeatSearch;
import dev.weir.traffic.TrafficException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The suggestion of a limit at the same time, for traffic that shows how long requests took. The
 * limit of a {@link RefusalCount} is here the permits that may be out at once. Immutable.
 *
 * @param forRequests the smallest limit that refuses at most the share of requests
 * @param forKeys the smallest limit at which at most the share of keys has a refused request
 * @param both the larger of the two: it meets both shares
 * @param below the refusals by one permit less; null if the limit is 0
 * @param suggested the refusals by the limit for both with its headroom
 * @param curve the refusals by other limits, by rising limit
 * @param mostAtOnce the most permits of one key at once, without a limit
 * @param mostKey the key of which that many were out
 * @param keys99 the permits at once that 99 of a hundred keys never exceed
 * @param longestNanos the longest duration of a request, in nanoseconds
 * @param holdNanos the hold of the rule to paste: no request takes longer, up to 5 minutes
 */
public record SeatSuggestion(
    RefusalCount forRequests,
    RefusalCount forKeys,
    RefusalCount both,
    @Nullable RefusalCount below,
    RefusalCount suggested,
    List<RefusalCount> curve,
    long mostAtOnce,
    String mostKey,
    long keys99,
    long longestNanos,
    long holdNanos) {
  /** The holds that are suggested: the first that no request outlasts. */
  private static final long[] HOLDS =
      LongStream.of(10, 30, 60, 120, RequestSeats.LONGEST.toSeconds())
          .map(seconds -> seconds * 1_000_000_000L)
          .toArray();

  /** The most limits on a curve. */
  private static final int CURVE_POINTS = 24;

  public SeatSuggestion {
    curve = List.copyOf(curve);
  }

  /**
   * The result of a search.
   *
   * @param suggestion null if there is none
   * @param problems the reasons for that, one line each; none if the traffic does not show how long
   *     requests took, or an interrupt has ended the search
   */
  record Found(@Nullable SeatSuggestion suggestion, List<String> problems) {
    static final Found NONE = new Found(null, List.of());
  }

  /**
   * Searches for the limit for traffic. A search without a result leaves the limits of windows as
   * they are.
   *
   * @param keys the keys that are left out
   */
  static Found of(Recording recording, LimitSuggestions.Options options, IgnoredKeys keys) {
    if (recording.source().durations() == null) {
      return Found.NONE;
    }
    try {
      return new Found(searched(recording.trace(), options, keys), List.of());
    } catch (TrafficException e) {
      return new Found(null, e.problems());
    } catch (StoppedException e) {
      return Found.NONE;
    }
  }

  private static SeatSuggestion searched(
      Trace trace, LimitSuggestions.Options options, IgnoredKeys keys)
      throws TrafficException, StoppedException {
    SeatSearch search = SeatSearch.of(trace, keys.ids());
    long mostRequests = options.part(trace.size() - keys.requests());
    long mostKeys = options.part((long) trace.keys() - keys.ids().size());
    TriedLimit forRequests = search.smallest(each -> each.requests() <= mostRequests);
    TriedLimit forKeys = search.smallest(each -> each.keys() <= mostKeys);
    long both = Math.max(forRequests.limit(), forKeys.limit());
    TreeSet<Long> curve = new TreeSet<>();
    double most = Math.max(1, search.mostAtOnce());
    for (int i = 0; i <= CURVE_POINTS; i++) {
      curve.add(Math.round(Math.pow(most, i / (double) CURVE_POINTS)));
    }
    curve.add(Math.max(1, both));
    List<RefusalCount> points = new ArrayList<>();
    for (long limit : curve) {
      points.add(RefusalCount.of(search.refused(limit), trace));
    }
    long suggested = options.withHeadroom(both, Policy.MOST_SEATS);
    return new SeatSuggestion(
        RefusalCount.of(forRequests, trace),
        RefusalCount.of(forKeys, trace),
        RefusalCount.of(search.refused(both), trace),
        both == 0 ? null : RefusalCount.of(search.refused(both - 1), trace),
        RefusalCount.of(search.refused(suggested), trace),
        points,
        search.mostAtOnce(),
        trace.key(search.mostKey()),
        search.keysAtMost(99),
        search.longestNanos(),
        hold(search.longestNanos()));
  }

  private static long hold(long longestNanos) {
    for (long hold : HOLDS) {
      if (longestNanos <= hold) {
        return hold;
      }
    }
    return HOLDS[HOLDS.length - 1];
  }
}
