package dev.weir.insight;

/**
 * Says whose turn it is among many, one in so many, without a shared counter and without chance:
 * each thread has a sequence whose bits are mixed, so that no rhythm of requests falls in with it.
 * Threads that share a sequence may have the same turn twice, which does not matter. Safe for use
 * by many threads.
 */
final class Turns {
  private static final int THREADS = 64;

  /** A cache line or two for each, so that threads do not write to the same. */
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
