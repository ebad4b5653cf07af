package dev.weir.adaptive;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit, the permits that are out, and the requests that wait, in one word. Safe for use by
 * many threads.
 */
final class PermitCount {
  /*
   * Why one word? A permit is given out if fewer are out than the limit, and nobody waits. With a
   * limit of its own, it could fall between the look at it and the count of the permit, and one
   * permit more than either limit would be out. So one compare-and-set decides on all three.
   *
   * The number that waits is changed under the queue's lock only; here it keeps requests that do not
   * wait from overtaking those that do.
   */

  /** The bits of a number. */
  private static final int BITS = 20;

  /** The largest limit, and the most requests that wait. */
  static final int MOST = 1_000_000;

  private static final long MASK = (1L << BITS) - 1;
  private static final long OUT = 1;
  private static final long WAITING = 1L << BITS;
  private static final int LIMIT_SHIFT = 2 * BITS;

  private final AtomicLong word;

  PermitCount(int limit) {
    word = new AtomicLong((long) limit << LIMIT_SHIFT);
  }

  long word() {
    return word.get();
  }

  static int limit(long word) {
    return (int) (word >>> LIMIT_SHIFT);
  }

  static int out(long word) {
    return (int) (word & MASK);
  }

  static int waiting(long word) {
    return (int) ((word >>> BITS) & MASK);
  }

  private static boolean hasRoom(long word) {
    return out(word) < limit(word);
  }

  /** Takes a permit, if there is one and nobody waits; returns how many are out then, or 0. */
  int take() {
    long before = word.get();
    while (waiting(before) == 0 && hasRoom(before)) {
      if (word.compareAndSet(before, before + OUT)) {
        return out(before) + 1;
      }
      before = word.get();
    }
    return 0;
  }

  /**
   * Takes a permit like {@link #take}, or counts a request that waits. To be called under the
   * queue's lock.
   *
   * @return how many permits are out then, 0 if the request waits, or -1 if no more may wait
   */
  int takeOrWait(int maxWaiting) {
    while (true) {
      long before = word.get();
      if (waiting(before) == 0 && hasRoom(before)) {
        if (word.compareAndSet(before, before + OUT)) {
          return out(before) + 1;
        }
      } else if (waiting(before) >= maxWaiting) {
        return -1;
      } else if (word.compareAndSet(before, before + WAITING)) {
        return 0;
      }
    }
  }

  /**
   * Takes a permit for a request that waits. To be called under the queue's lock, while one waits.
   *
   * @return how many permits are out then, or 0 if there is none
   */
  int takeForWaiting() {
    long before = word.get();
    while (hasRoom(before)) {
      if (word.compareAndSet(before, before + OUT - WAITING)) {
        return out(before) + 1;
      }
      before = word.get();
    }
    return 0;
  }

  /** Counts a request that waits no longer. To be called under the queue's lock. */
  void leave() {
    word.addAndGet(-WAITING);
  }

  /** Gives a permit back; returns whether requests wait. */
  boolean giveBack() {
    return waiting(word.addAndGet(-OUT)) > 0;
  }

  /** Sets the limit; returns whether requests wait. */
  boolean limit(int limit) {
    long before = word.get();
    long after = withLimit(before, limit);
    while (!word.compareAndSet(before, after)) {
      before = word.get();
      after = withLimit(before, limit);
    }
    return waiting(after) > 0;
  }

  private static long withLimit(long word, int limit) {
    return (word & ((1L << LIMIT_SHIFT) - 1)) | ((long) limit << LIMIT_SHIFT);
  }
}
