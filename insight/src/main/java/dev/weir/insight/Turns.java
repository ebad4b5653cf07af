package dev.weir.insight;

/**
 * A sampler that picks one in so many, without a shared counter and without chance. Each thread has
 * a sequence whose bits are mixed, so that it does not follow any rhythm of requests. Threads that
 * share a sequence may get the same number twice, which does not matter. Safe for use by many
 * threads.
 */
final class Turns {
  private static final int THREADS = 64;

  /**
   * The distance between two sequences: a cache line or two, so that threads do not write to the
   * same line.
   */
  private static final int APART = 32;

  private static final int STEP = 0x9e3779b9;

  private final int[] sequences = new int[THREADS * APART];

  /** Returns the next 32 bits. */
  int next() {
    int place = ((int) Thread.currentThread().getId() & THREADS - 1) * APART;
    int next = sequences[place] + STEP;
    sequences[place] = next;
    int mixed = (next ^ next >>> 16) * 0x21f0aaad;
    return (mixed ^ mixed >>> 15) * 0x735a2d97;
  }
}
