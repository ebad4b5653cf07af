package dev.weir.server.internal.grpc;

import dev.weir.Ticker;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The buckets without a limit that were used within the last one to two minutes, in memory of fixed
 * size: an unused bucket may be taken for a used one. Safe for use by many threads.
 */
final class RecentBuckets {
  /*
   * Two sets of bits take turns every minute. A bucket sets one bit in the newer one. An Envoy is
   * ordered to abandon a bucket whose bit is in neither. A bucket whose bit another one has set is
   * abandoned later, which does no harm. So nothing is kept for a single bucket, however many of
   * them clients report.
   */
  private static final int BITS = 1 << 20;

  private static final long TURN_NANOS = 60_000_000_000L;

  private final Ticker ticker;
  private @Nullable AtomicLongArray newer;
  private @Nullable AtomicLongArray older;
  private long turnedAtNanos;

  RecentBuckets(Ticker ticker) {
    this.ticker = ticker;
  }

  /** Marks a bucket as used now. */
  void add(long fingerprint) {
    AtomicLongArray bits = newer();
    long bit = 1L << fingerprint;
    int word = word(fingerprint);
    if ((bits.get(word) & bit) == 0) {
      bits.accumulateAndGet(word, bit, (before, more) -> before | more);
    }
  }

  /** Returns whether a bucket may have been used lately. */
  synchronized boolean has(long fingerprint) {
    turn();
    return isSet(newer, fingerprint) || isSet(older, fingerprint);
  }

  private static boolean isSet(@Nullable AtomicLongArray bits, long fingerprint) {
    return bits != null && (bits.get(word(fingerprint)) & (1L << fingerprint)) != 0;
  }

  private static int word(long fingerprint) {
    return (int) (fingerprint >>> Integer.SIZE) & (BITS / Long.SIZE - 1);
  }

  private synchronized AtomicLongArray newer() {
    turn();
    AtomicLongArray bits = newer;
    if (bits == null) {
      bits = new AtomicLongArray(BITS / Long.SIZE);
      newer = bits;
    }
    return bits;
  }

  private void turn() {
    long now = ticker.nanos();
    long passed = now - turnedAtNanos;
    if (passed >= TURN_NANOS) {
      older = passed < 2 * TURN_NANOS ? newer : null;
      newer = null;
      turnedAtNanos = now;
    }
  }
}
