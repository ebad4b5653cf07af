package dev.weir.insight;

import dev.weir.Ticker;
import dev.weir.engine.EngineMetrics;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The history of an engine's counts. It has a row per second for ten minutes in memory and, if
 * there is a folder, a row per 10 s for six hours and a row per 5 min for 30 days in files. After a
 * restart, a server goes on from the rows in the files. Safe for use by many threads.
 */
public final class History implements AutoCloseable {
  /*
   * How much memory and disk does the history take? A row has 12 numbers, and 6 for each of at most
   * 200 rules with requests, of a few bytes each: 1 to 4 KiB at most. So 600 rows are 2 MB of
   * memory, and 11 thousand rows in files at most 45 MB. The bounds of the files hold whatever the
   * numbers are. In addition, three readings are in memory, with 6 numbers for each rule in force.
   *
   * Rows are dated by the monotonic clock, so that a step of the wall clock bends no rate. When
   * both have drifted apart by more than two seconds, for example after a machine was asleep, the
   * date follows the wall clock in whole seconds. After a step back there are rows of the same time
   * twice; readers add them up, with the time that they cover.
   */
  static final int RECENT_ROWS = 600;
  static final long MIDDLE_SECONDS = 10;
  static final long MIDDLE_KEPT = 2_160 * MIDDLE_SECONDS;
  static final long COARSE_SECONDS = 300;
  static final long COARSE_KEPT = 8_640 * COARSE_SECONDS;

  /** The most bytes of the files of 10 s, and of 5 min: 60 MB together, less than that. */
  static final long MAX_MIDDLE_BYTES = 14_000_000;

  static final long MAX_COARSE_BYTES = 44_000_000;

  private static final long HOUR = 3_600;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final long DRIFT_NANOS = 2 * SECOND_NANOS;

  /**
   * One of the three widths of rows.
   *
   * @param step the width, in seconds
   * @param seconds the time for which rows are kept, in seconds
   * @param since the beginning of the oldest row, in seconds since 1970, or null
   */
  public record Tier(long step, long seconds, @Nullable Long since) {}

  private final Supplier<EngineMetrics> metrics;
  private final IntSupplier fullPercent;
  private final Ticker ticker;
  private final Ticker wall;
  private final Span second = new Span(1);
  private final Span middleSpan = new Span(MIDDLE_SECONDS);
  private final Span coarseSpan = new Span(COARSE_SECONDS);
  private final RecentRows recent = new RecentRows(RECENT_ROWS);
  private final @Nullable RowFiles middle;
  private final @Nullable RowFiles coarse;
  private long offsetNanos;
  private boolean closed;

  /**
   * @param metrics the counters to read, for example {@code Engine::totals}
   * @param fullPercent the share of the store's bound in use, in percent
   * @param folder the folder for the files, which is made if it does not exist; null for none
   * @param ticker the monotonic clock
   * @param wall the clock of people
   */
  public History(
      Supplier<EngineMetrics> metrics,
      IntSupplier fullPercent,
      @Nullable Path folder,
      Ticker ticker,
      Ticker wall) {
    this.metrics = metrics;
    this.fullPercent = fullPercent;
    this.ticker = ticker;
    this.wall = wall;
    if (folder == null) {
      middle = null;
      coarse = null;
    } else {
      middle = new RowFiles(folder, "10s", MIDDLE_KEPT, HOUR, MAX_MIDDLE_BYTES);
      coarse = new RowFiles(folder, "5min", COARSE_KEPT, 24 * HOUR, MAX_COARSE_BYTES);
      long now = now();
      middle.begin(now);
      coarse.begin(now);
    }
  }

  /** Reads the counters; to be called every second. Returns the row of a second that has ended. */
  public @Nullable Second tick() {
    Reading reading = reading();
    synchronized (this) {
      if (closed) {
        return null;
      }
      Row row = second.take(reading);
      if (row != null) {
        recent.add(row);
      }
      write(middle, middleSpan.take(reading), reading);
      write(coarse, coarseSpan.take(reading), reading);
      return row == null ? null : new Second(row);
    }
  }

  private Reading reading() {
    long nanos = ticker.nanos();
    EngineMetrics read = metrics.get();
    return Reading.of(read, fullPercent.getAsInt(), nanos, nanos + offset(nanos));
  }

  /** Returns the offset that makes the monotonic clock a clock for people, in whole seconds. */
  private synchronized long offset(long nanos) {
    long apart = wall.nanos() - nanos;
    if (Math.abs(apart - offsetNanos) > DRIFT_NANOS) {
      offsetNanos = Math.floorDiv(apart + SECOND_NANOS / 2, SECOND_NANOS) * SECOND_NANOS;
    }
    return offsetNanos;
  }

  private static void write(@Nullable RowFiles to, @Nullable Row row, Reading reading) {
    if (to != null && row != null) {
      to.add(row, Math.floorDiv(reading.time(), SECOND_NANOS));
    }
  }

  /** Returns the time that a reading would have now, in seconds since 1970. */
  public long now() {
    long nanos = ticker.nanos();
    return Math.floorDiv(nanos + offset(nanos), SECOND_NANOS);
  }

  /** Returns whether rows are kept in files. */
  public boolean persistent() {
    return middle != null;
  }

  /** Returns the reason why rows cannot be written to the files now, or an empty text. */
  public String problem() {
    String first = middle == null ? "" : middle.problem();
    return first.isEmpty() && coarse != null ? coarse.problem() : first;
  }

  /** Returns the widths of rows that are available, the narrow ones first. */
  public List<Tier> tiers() {
    List<Tier> tiers = new ArrayList<>();
    tiers.add(new Tier(1, RECENT_ROWS, recent.since()));
    if (middle != null && coarse != null) {
      tiers.add(new Tier(MIDDLE_SECONDS, MIDDLE_KEPT, middle.since()));
      tiers.add(new Tier(COARSE_SECONDS, COARSE_KEPT, coarse.since()));
    }
    return tiers;
  }

  /** Returns the seconds in memory that begin behind a time, the oldest first. */
  public List<Second> after(long time) {
    List<Second> seconds = new ArrayList<>();
    recent.read(time + 1, Long.MAX_VALUE, row -> seconds.add(new Second(row)));
    return seconds;
  }

  /**
   * Returns the width of the rows for showing a span: the narrowest that reaches back far enough
   * and gives at most the requested points; otherwise the widest available.
   *
   * @param most the most points
   */
  public long step(long from, long to, int most) {
    long now = now();
    for (Tier tier : tiers()) {
      boolean reaches = from >= now - tier.seconds() - tier.step();
      if (reaches && (to - from) / tier.step() <= most) {
        return tier.step();
      }
    }
    return middle == null ? 1 : COARSE_SECONDS;
  }

  /** Passes on the rows in a span; of the widths up to a step, it takes the widest. */
  private void read(long from, long to, long step, Consumer<Row> sink) {
    if (coarse != null && step >= COARSE_SECONDS) {
      coarse.read(from, to, sink);
    } else if (middle != null && step >= MIDDLE_SECONDS) {
      middle.read(from, to, sink);
    } else {
      recent.read(from, to, sink);
    }
  }

  /**
   * Returns the values of a span.
   *
   * @param rule the path of the rule; null for the series of the whole server
   * @param from the beginning of the span, a multiple of the step, in seconds since 1970
   * @param step the width of rows in seconds, at least 1, or a multiple of it
   */
  public Columns columns(@Nullable String rule, long from, long to, long step) {
    Columns columns = new Columns(rule, from, to, step);
    read(from, to, step, columns::add);
    return columns;
  }

  /** Returns the totals of each rule in a span; the parameters are those of {@link #columns}. */
  public RuleTotals rules(long from, long to, long step) {
    RuleTotals totals = new RuleTotals(from, to, step);
    read(from, to, step, totals::add);
    return totals;
  }

  /** Returns the approximate bytes of memory that the rows take, without the names of rules. */
  long recentBytes() {
    return recent.bytes();
  }

  /** Returns the bytes of all files. */
  public long fileBytes() {
    return (middle == null ? 0 : middle.bytes()) + (coarse == null ? 0 : coarse.bytes());
  }

  /** Writes the rows that have begun, and closes the files. */
  @Override
  public void close() {
    Reading reading = reading();
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      write(middle, middleSpan.finish(reading), reading);
      write(coarse, coarseSpan.finish(reading), reading);
    }
    if (middle != null && coarse != null) {
      middle.end();
      coarse.end();
    }
  }
}
