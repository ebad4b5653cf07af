package dev.weir.cluster.internal.operating;

import dev.weir.Ticker;
import dev.weir.cluster.ClusterMetrics;
import dev.weir.cluster.ClusterMetrics.Counts;
import dev.weir.cluster.internal.log.Ledger;
import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.log.LedgerException.Outcome;
import dev.weir.internal.Choice;
import dev.weir.internal.Histogram;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The counters of a member for one group. Safe for use by many threads. */
public final class GroupCounters {
  /**
   * The most observations that are kept, one a second: a replica that lags by more than ten minutes
   * may be shown with ten.
   */
  private static final int MOST_SEEN = 600;

  private final Ticker ticker;
  private final Histogram commits = Histogram.ofWork();
  private final Histogram applies = Histogram.ofWork();
  private final Histogram snapshots = Histogram.ofWork();
  private final Histogram charges = Histogram.ofNumbers();
  private final LongAdder elections = new LongAdder();
  private final LongAdder refusedEarly = new LongAdder();
  private final Map<Outcome, LongAdder> undecided = new EnumMap<>(Outcome.class);

  /** Committed indexes that were seen and are not applied yet. Guarded by itself. */
  private final Deque<SeenIndex> committed = new ArrayDeque<>();

  private final FlushWatch flushes;
  private volatile String problem = "";

  /** An index, and the time when it was seen to be committed. */
  private record SeenIndex(long index, long atNanos) {}

  /**
   * Creates counters.
   *
   * @param ticker monotonic
   */
  public GroupCounters(Ticker ticker) {
    this.ticker = ticker;
    this.flushes = new FlushWatch(ticker);
    for (Outcome each : Outcome.values()) {
      undecided.put(each, new LongAdder());
    }
  }

  /** Returns the start time for the methods of this class that measure durations. */
  public long begin() {
    return ticker.nanos();
  }

  /** Counts the charges of one received entry. */
  public void received(int chargesOfEntry, int refused) {
    charges.add(chargesOfEntry);
    refusedEarly.add(refused);
  }

  /** Counts the outcome of an appended entry. */
  public void appended(long begunNanos, @Nullable Throwable problem) {
    if (problem == null) {
      commits.add(ticker.nanos() - begunNanos);
      return;
    }
    Throwable cause =
        problem instanceof CompletionException && problem.getCause() != null
            ? problem.getCause()
            : problem;
    undecided(cause instanceof LedgerException known ? known.outcome() : Outcome.UNKNOWN);
  }

  public void undecided(Outcome outcome) {
    Objects.requireNonNull(undecided.get(outcome)).increment();
  }

  public void applied(long begunNanos) {
    applies.add(ticker.nanos() - begunNanos);
  }

  public void imaged(long begunNanos) {
    snapshots.add(ticker.nanos() - begunNanos);
  }

  public void elected() {
    elections.increment();
  }

  public void stopped(String why) {
    problem = why;
  }

  /**
   * Returns the reason why this member takes no part in the group any more, or cannot lead it;
   * empty if it can.
   */
  String problem() {
    return problem.isEmpty() && flushes.isLate()
        ? "its disk is slower than those of others: what it leads waits for it"
        : problem;
  }

  /** Returns the watch over the flushes of this member's log. */
  public FlushWatch flushes() {
    return flushes;
  }

  public long refusedEarly() {
    return refusedEarly.sum();
  }

  /** Notes the committed and applied indexes of the log; to be called about once a second. */
  public void record(Ledger.Status status) {
    synchronized (committed) {
      drop(status.applied());
      if (status.committed() > status.applied() && committed.size() < MOST_SEEN) {
        committed.addLast(new SeenIndex(status.committed(), ticker.nanos()));
      }
    }
  }

  /**
   * Returns the time for which an entry has been committed and not applied, as far as {@link
   * #record} has seen; 0 if there is none.
   */
  long lagNanos(long applied) {
    synchronized (committed) {
      drop(applied);
      SeenIndex oldest = committed.peekFirst();
      return oldest == null ? 0 : ticker.nanos() - oldest.atNanos();
    }
  }

  private void drop(long applied) {
    while (!committed.isEmpty() && committed.getFirst().index() <= applied) {
      SeenIndex unused = committed.removeFirst();
    }
  }

  private static Counts counts(Histogram of) {
    return new Counts(of.bounds(), of.counts(), of.sum());
  }

  private Map<String, Long> undecided() {
    Map<String, Long> counts = new LinkedHashMap<>();
    undecided.forEach((outcome, count) -> counts.put(Choice.name(outcome), count.sum()));
    return counts;
  }

  /** Returns all counters, with the given values of the group's other parts. */
  public ClusterMetrics.GroupMetrics metrics(
      int group,
      boolean leads,
      boolean diverged,
      Ledger.Status status,
      long logBytes,
      long clockLagNanos,
      long clockFaults,
      long movedSlots,
      int frozenSlots) {
    return new ClusterMetrics.GroupMetrics(
        group,
        leads,
        status.term(),
        logBytes,
        counts(commits),
        counts(applies),
        counts(snapshots),
        counts(charges),
        lagNanos(status.applied()),
        clockLagNanos,
        clockFaults,
        elections.sum(),
        refusedEarly.sum(),
        undecided(),
        diverged,
        movedSlots,
        frozenSlots);
  }
}
