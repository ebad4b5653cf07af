package dev.weir.engine.internal.matching;

import dev.weir.Charges;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The permits that were refused lately, by key, so that they are not given back: a caller that
 * takes permits before a call and gives them back after it does the second also when the first was
 * refused, and then nothing was charged. Safe for use by many threads.
 */
public final class RefusedPermits {
  /*
   * How is this bounded, and why is it safe? Keys share a fixed number of cells by their hash. Two
   * keys in one cell, and refusals whose permits nobody gives back, can only keep permits from
   * being given back; then they stay charged until their window is over. The opposite cannot
   * happen: a cell counts at least what its keys were refused.
   *
   * A refusal is remembered for one to two spans. Envoy reports the end of a refused call as soon
   * as the answer has been sent, so a span is as long as Envoy keeps an idle stream. Two arrays
   * take turns: the older one is emptied when a span is over.
   */

  /** The cells; 128 KiB for each of the two spans. */
  private static final int CELLS = 1 << 14;

  /** The span, five minutes: Envoy's default for idle streams. */
  static final long SPAN_NANOS = 300_000_000_000L;

  /** The most permits that are refused or given back at once, above any limit. */
  static final long MOST_PERMITS = 1L << 33;

  private static final long MIX = 0x9e3779b97f4a7c15L;

  /** The cells of two spans; null until something is refused. */
  private record Spans(AtomicLongArray now, AtomicLongArray before, long begunNanos) {}

  private volatile @Nullable Spans spans;

  /** Records the permits of a request that were not charged. */
  public void decided(Charges charges, long nowNanos) {
    for (int i = 0; i < charges.size(); i++) {
      boolean charged = charges.counted(i) || (charges.allowed() && charges.fits(i));
      if (charges.permits(i) > 0 && !charged) {
        add(charges, i, nowNanos);
      }
    }
  }

  private void add(Charges charges, int i, long nowNanos) {
    Spans current = spans(nowNanos);
    // One instruction, without a loop: many threads may refuse one key.
    long unused =
        current.now.getAndAdd(cell(charges, i), Math.min(charges.permits(i), MOST_PERMITS));
  }

  /**
   * Takes permits of the key of a charge out of those that were refused.
   *
   * @param permits the permits that are given back; more than any limit count as that many
   * @return how many of them were refused, 0 to {@code permits}; all of them if more were refused
   *     than any limit
   */
  public long take(Charges charges, int i, long permits, long nowNanos) {
    long most = Math.min(permits, MOST_PERMITS);
    long refused = takeAtMost(charges, i, most, nowNanos);
    return refused == most ? permits : refused;
  }

  private long takeAtMost(Charges charges, int i, long permits, long nowNanos) {
    if (spans == null) {
      return 0;
    }
    Spans current = spans(nowNanos);
    int cell = cell(charges, i);
    long older = take(current.before, cell, permits);
    return older + take(current.now, cell, permits - older);
  }

  /** Takes permits out of a cell. One that counted beyond its range has more than any request. */
  static long take(AtomicLongArray cells, int cell, long permits) {
    if (cells.get(cell) == 0) {
      return 0;
    }
    long had =
        cells.getAndUpdate(
            cell, refused -> refused < 0 ? refused : refused - Math.min(refused, permits));
    return had < 0 ? permits : Math.min(had, permits);
  }

  private Spans spans(long nowNanos) {
    Spans current = spans;
    return current == null || nowNanos - current.begunNanos >= SPAN_NANOS
        ? turned(nowNanos)
        : current;
  }

  private synchronized Spans turned(long nowNanos) {
    Spans current = spans;
    if (current == null || nowNanos - current.begunNanos >= 2 * SPAN_NANOS) {
      current = new Spans(new AtomicLongArray(CELLS), new AtomicLongArray(CELLS), nowNanos);
    } else if (nowNanos - current.begunNanos >= SPAN_NANOS) {
      current = new Spans(new AtomicLongArray(CELLS), current.now, nowNanos);
    }
    spans = current;
    return current;
  }

  private static int cell(Charges charges, int i) {
    long name = charges.binding(i).policy().name().hashCode();
    return (int) (((charges.fingerprint(i) ^ (name * MIX)) * MIX) >>> 50);
  }
}
