package dev.weir.insight;

import dev.weir.Ticker;
import dev.weir.engine.DecidedDescriptor;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The keys with the most requests and those with the most refusals in the last one to two minutes.
 * Counts are requests. Safe for use by many threads.
 */
public final class HotKeys {
  /*
   * How is HotKeys designed, and why? Each thread that decides has its own sketches, or shares them
   * with few others, under a flag that is hardly ever taken. Every refusal is counted. Of all
   * requests, one in 16 is counted, 16 times; that makes an admission cheap. Windows of 60 s take
   * turns: the current window and the one before it are shown together, so a busy key stays visible
   * at the turn of the minute.
   *
   * Adding up takes some milliseconds, so it is done on demand, and at most once a second.
   */

  /** The count by which keys are ordered. */
  public enum KeyOrder {
    /** The number of requests that a limit refused. */
    REFUSED,
    /** The number of requests, refused or not; one in {@link #ASKED_ONE_IN} is counted. */
    ASKED
  }

  /** The sampling of requests: one in so many is counted, as so many. */
  public static final int ASKED_ONE_IN = 16;

  /**
   * The counters of each sketch: every key with a share of more than about one in so many has one.
   */
  public static final int COUNTERS = KeySketch.COUNTERS;

  private static final long WINDOW_NANOS = 60_000_000_000L;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final int MIN_STRIPES = 4;
  private static final int MAX_STRIPES = 16;
  private static final int SAMPLE_SHIFT =
      Integer.SIZE - Integer.numberOfTrailingZeros(ASKED_ONE_IN);
  private static final long MIX = 0x9e3779b97f4a7c15L;

  /**
   * A key.
   *
   * @param count the number of requests, never too low if all are counted
   * @param tooHigh the amount by which the count may be too high
   */
  public record HotKey(KeyName name, long count, long tooHigh) {}

  /**
   * The keys of two windows.
   *
   * @param fromNanos the beginning of the older window, on the ticker's scale
   * @param keys all keys with a counter, the largest count first
   */
  public record Snapshot(long fromNanos, long toNanos, List<HotKey> keys) {
    public Snapshot {
      keys = List.copyOf(keys);
    }
  }

  /**
   * The most bytes of the names of a sketch; all together take at most a share of the heap as well.
   */
  private static final long MOST_NAME_BYTES = KeySketch.COUNTERS << 10;

  private static final int HEAP_PART = 16;

  /** The sketches of one window. */
  private static final class Window {
    /** The number of sketches of a stripe: two kinds in two windows. */
    static final int SKETCHES = 4;

    private final KeySketch refused;
    private final KeySketch asked;

    Window(long mostNameBytes) {
      refused = new KeySketch(mostNameBytes);
      asked = new KeySketch(mostNameBytes);
    }

    KeySketch of(KeyOrder by) {
      return by == KeyOrder.REFUSED ? refused : asked;
    }
  }

  /** The sketches of some threads. */
  private static final class Stripe {
    private final AtomicBoolean taken = new AtomicBoolean();
    private Window now;
    private Window before;

    Stripe(long mostNameBytes) {
      now = new Window(mostNameBytes);
      before = new Window(mostNameBytes);
    }

    private void take() {
      while (!taken.compareAndSet(false, true)) {
        Thread.onSpinWait(); // The flag is held for a copy of some kilobytes at most.
      }
    }

    void add(KeyOrder by, long id, long times, DecidedDescriptor decided) {
      take();
      try {
        now.of(by).add(id, times, decided);
      } finally {
        taken.setRelease(false);
      }
    }

    void turn() {
      take();
      Window oldest = before;
      before = now;
      now = oldest;
      oldest.refused.clear();
      oldest.asked.clear();
      taken.setRelease(false);
    }

    void copy(KeyOrder by, Collection<KeySketch> to) {
      take();
      to.add(now.of(by).copy());
      to.add(before.of(by).copy());
      taken.setRelease(false);
    }
  }

  private final Ticker ticker;
  private final Turns turns = new Turns();
  private final Stripe[] stripes;
  private final Map<KeyOrder, Snapshot> snapshots = new EnumMap<>(KeyOrder.class);
  private long windowNanos;
  private long beforeNanos;

  public HotKeys(Ticker ticker) {
    this.ticker = ticker;
    int count = MIN_STRIPES;
    while (count < 2 * Runtime.getRuntime().availableProcessors() && count < MAX_STRIPES) {
      count *= 2;
    }
    stripes = new Stripe[count];
    long part = Runtime.getRuntime().maxMemory() / HEAP_PART / count / Window.SKETCHES;
    for (int i = 0; i < count; i++) {
      stripes[i] = new Stripe(Math.min(part, MOST_NAME_BYTES));
    }
    windowNanos = ticker.nanos();
    beforeNanos = windowNanos;
  }

  /** Counts a request; see {@link dev.weir.engine.DecisionObserver}. */
  void decided(DecidedDescriptor decided) {
    boolean refused = decided.refused();
    boolean sampled = turns.next() >>> SAMPLE_SHIFT == 0;
    if (!sampled && !refused) {
      return; // The usual case.
    }
    Stripe stripe = stripes[(int) Thread.currentThread().getId() & stripes.length - 1];
    long id = id(decided.rule(), decided.fingerprint());
    if (refused) {
      stripe.add(KeyOrder.REFUSED, id, 1, decided);
    }
    if (sampled) {
      stripe.add(KeyOrder.ASKED, id, ASKED_ONE_IN, decided);
    }
  }

  /** Returns the approximate bytes that the names of all keys take. */
  long nameBytes() {
    long bytes = 0;
    for (Stripe stripe : stripes) {
      List<KeySketch> sketches = new ArrayList<>();
      stripe.copy(KeyOrder.REFUSED, sketches);
      stripe.copy(KeyOrder.ASKED, sketches);
      bytes += sketches.stream().mapToLong(KeySketch::nameBytes).sum();
    }
    return bytes;
  }

  private static long id(@Nullable Rule rule, long fingerprint) {
    String limit = rule == null ? "" : rule.path();
    long mixed = (fingerprint + limit.hashCode() * MIX) * MIX;
    return mixed ^ mixed >>> 29;
  }

  /** Begins a new window when the current one is over; to be called every second or so. */
  synchronized void tick() {
    long now = ticker.nanos();
    if (now - windowNanos >= WINDOW_NANOS) {
      beforeNanos = windowNanos;
      windowNanos = now;
      for (Stripe stripe : stripes) {
        stripe.turn();
      }
    }
  }

  /** Returns the keys of the last one to two minutes, at most a second old. */
  public synchronized Snapshot top(KeyOrder by) {
    Snapshot last = snapshots.get(by);
    long now = ticker.nanos();
    if (last != null && now - last.toNanos() < SECOND_NANOS && now >= last.toNanos()) {
      return last;
    }
    List<KeySketch> sketches = new ArrayList<>();
    for (Stripe stripe : stripes) {
      stripe.copy(by, sketches);
    }
    Map<Long, KeyName> names = new HashMap<>();
    Map<Long, long[]> sums = KeySketch.sums(sketches, names);
    List<HotKey> keys = new ArrayList<>(names.size());
    names.forEach(
        (id, name) -> {
          long[] sum = sums.getOrDefault(id, new long[2]);
          keys.add(new HotKey(name, sum[0], sum[1]));
        });
    keys.sort(
        Comparator.comparingLong((HotKey each) -> each.tooHigh() - each.count())
            .thenComparing(each -> each.name().rule())
            .thenComparing(each -> each.name().entries().toString()));
    Snapshot snapshot = new Snapshot(beforeNanos, now, keys);
    snapshots.put(by, snapshot);
    return snapshot;
  }
}
