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
 * What an engine has counted, a row a second for ten minutes in memory, and where there is a folder
 * a row of 10 s for six hours and a row of 5 min for 30 days in files. A server that was started
 * anew goes on with what the files have. Safe for use by many threads.
 */
public final class History implements AutoCloseable {
  /*
   * How much does it take? A row has 12 numbers and 6 for each of at most 200 rules that were
   * asked, a few bytes each: 1 to 4 KiB at most. So 600 rows are 2 MB of memory, and 11 thousand
   * rows in files at most 45 MB. The bounds of the files hold whatever the numbers are. Besides,
   * three readings are in memory, with 6 numbers for each rule in force.
   *
   * Rows are dated by the monotonic clock, so that a step of the wall clock bends no rate. Where
   * both have drifted apart by more than two seconds, as after a machine was asleep, the date
   * follows the wall clock in whole seconds. A step back has rows of the same time twice; readers
   * add them up, with the time that they cover.
   */
  static final int RECENT_ROWS = 600;
  static final long MIDDLE_SECONDS = 10;
  static final long MIDDLE_KEPT = 2_160 * MIDDLE_SECONDS;
  static final long COARSE_SECONDS = 300;
  static final long COARSE_KEPT = 8_640 * COARSE_SECONDS;

  /** The bytes that the files of 10 s, and of 5 min, may have: 60 MB together, less than that. */
  static final long MAX_MIDDLE_BYTES = 14_000_000;

  static final long MAX_COARSE_BYTES = 44_000_000;

  private static final long HOUR = 3_600;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final long DRIFT_NANOS = 2 * SECOND_NANOS;

  /**
   * One of the three widths of rows.
   *
   * @param step the width, in seconds
   * @param seconds how long rows are kept
   * @param since where the oldest row begins, in seconds since 1970, or null
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
   * @param metrics what is read, for example {@code Engine::totals}
   * @param fullPercent how full the store is
   * @param folder for the files, which is made if it is not there; null for none
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

  /** Returns what is added to the monotonic clock for people, in whole seconds. */
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

  /** Returns the time of the newest reading could have now, in seconds since 1970. */
  public long now() {
    long nanos = ticker.nanos();
    return Math.floorDiv(nanos + offset(nanos), SECOND_NANOS);
  }

  /** Returns whether rows are kept in files. */
  public boolean persistent() {
    return middle != null;
  }

  /** Returns why rows are not written to the files now, or an empty text. */
  public String problem() {
    String first = middle == null ? "" : middle.problem();
    return first.isEmpty() && coarse != null ? coarse.problem() : first;
  }

  /** Returns which rows there are, the narrow ones first. */
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
   * Returns the width of the rows that a span is shown in: the narrowest that reaches back as far
   * and gives no more points than asked for; else the widest there is.
   *
   * @param most how many points are wanted at most
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

  /** Hands on the rows in a span that are the widest of those not wider than a step. */
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
   * @param rule its path; null for the series of the whole server
   * @param from a multiple of the step, in seconds since 1970
   * @param step at least 1, in seconds: the width of rows, or several of them together
   */
  public Columns columns(@Nullable String rule, long from, long to, long step) {
    Columns columns = new Columns(rule, from, to, step);
    read(from, to, step, columns::add);
    return columns;
  }

  /** Returns what each rule was asked in a span; the parameters are those of {@link #columns}. */
  public RuleTotals rules(long from, long to, long step) {
    RuleTotals totals = new RuleTotals(from, to, step);
    read(from, to, step, totals::add);
    return totals;
  }

  /** Returns about how many bytes of memory the rows take, without the names of rules. */
  long recentBytes() {
    return recent.bytes();
  }

  /** Returns how many bytes of files there are. */
  public long fileBytes() {
    return (middle == null ? 0 : middle.bytes()) + (coarse == null ? 0 : coarse.bytes());
  }

  /** Writes what has begun and is not whole, and ends. */
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
