package dev.weir;

import java.util.Arrays;

/**
 * The charges of a segment that must keep their permits: for each key that has any, all charges
 * after which it would have reset by a given instant. Guarded by the lock of the segment.
 */
final class Bars {
  /*
   * A bar is over once its instant is past, because such charges have come back by then anyway.
   * Therefore pruning changes no refund, at whatever time and on whichever thread it is done. There
   * are at most as many bars as keys that were barred within the time in which a bucket drains:
   * before adding one takes more memory, those that are over are dropped.
   *
   * Pairs of fingerprint and instant in an open-addressed array, at most half of it full; a
   * fingerprint of 0 is a free pair.
   */

  /** The bytes that an object, its array's header and the reference to it take, about. */
  private static final int FIXED_BYTES = 48;

  private static final int FIRST_PAIRS = 4;

  private long[] pairs = new long[2 * FIRST_PAIRS];
  private int size;

  /** A receiver of bars; X is the exception that it may throw. */
  interface Sink<X extends Exception> {
    void bar(long fingerprint, long untilNanos) throws X;
  }

  int size() {
    return size;
  }

  long bytes() {
    return FIXED_BYTES + 8L * pairs.length;
  }

  Bars copy() {
    Bars copy = new Bars();
    copy.pairs = pairs.clone();
    copy.size = size;
    return copy;
  }

  private int find(long fingerprint) {
    int mask = pairs.length / 2 - 1;
    int place = (int) ((fingerprint * 0x9e3779b97f4a7c15L) >>> 40) & mask;
    while (pairs[2 * place] != 0 && pairs[2 * place] != fingerprint) {
      place = (place + 1) & mask;
    }
    return 2 * place;
  }

  /** Returns the instant until which a key is barred, {@link Meter#LONG_AGO} if it is not. */
  long untilNanos(long fingerprint) {
    int place = find(fingerprint);
    return pairs[place] == 0 ? Meter.LONG_AGO : pairs[place + 1];
  }

  /**
   * Bars a key until an instant, or until a later one if it is barred until then already.
   *
   * @return the latest instant of the bars that were dropped because they were over
   */
  long add(long fingerprint, long untilNanos, long nowNanos) {
    int place = find(fingerprint);
    if (pairs[place] != 0) {
      pairs[place + 1] = Math.max(pairs[place + 1], untilNanos);
      return Meter.LONG_AGO;
    }
    long dropped = Meter.LONG_AGO;
    if (4 * (size + 1) > pairs.length) {
      dropped = prune(nowNanos, 1);
      place = find(fingerprint);
    }
    pairs[place] = fingerprint;
    pairs[place + 1] = untilNanos;
    size++;
    return dropped;
  }

  /**
   * Drops the bars that are over and returns the latest of their instants, as {@link #add} does.
   */
  long prune(long nowNanos) {
    return prune(nowNanos, 0);
  }

  private long prune(long nowNanos, int room) {
    long[] before = pairs;
    long latest = Meter.LONG_AGO;
    int kept = 0;
    for (int i = 0; i < before.length; i += 2) {
      if (before[i] != 0 && before[i + 1] <= nowNanos) {
        latest = Math.max(latest, before[i + 1]);
        before[i] = 0;
      }
      kept += before[i] == 0 ? 0 : 1;
    }
    int wanted = FIRST_PAIRS;
    while (wanted < 2 * (kept + room)) {
      wanted *= 2;
    }
    if (kept < size || 2 * wanted != before.length) {
      pairs = new long[2 * wanted];
      size = kept;
      for (int i = 0; i < before.length; i += 2) {
        if (before[i] != 0) {
          int place = find(before[i]);
          pairs[place] = before[i];
          pairs[place + 1] = before[i + 1];
        }
      }
    }
    return latest;
  }

  <X extends Exception> void forEach(Sink<X> sink) throws X {
    for (int i = 0; i < pairs.length; i += 2) {
      if (pairs[i] != 0) {
        sink.bar(pairs[i], pairs[i + 1]);
      }
    }
  }

  @Override
  public String toString() {
    return "bars: " + Arrays.toString(pairs);
  }
}
