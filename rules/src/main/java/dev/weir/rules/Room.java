package dev.weir.rules;

import dev.weir.rules.internal.parse.Problems;
import dev.weir.rules.internal.parse.Words;

/**
 * The memory that one rule set may take; reports once that there is too little. Used by one thread.
 */
public final class Room {
  /** The divisor of the heap that gives the memory of one rule set. */
  static final int HEAP_SHARE = 3;

  private final Problems problems;
  private final long mostBytes;
  private long bytes;
  private boolean full;

  /**
   * Creates the room of one rule set.
   *
   * @param heapBytes the heap, of which a share is for the rules
   */
  public Room(Problems problems, long heapBytes) {
    this.problems = problems;
    mostBytes = heapBytes / HEAP_SHARE;
  }

  /** Returns whether something did not fit; nothing more is to be added then. */
  public boolean full() {
    return full;
  }

  /**
   * Counts memory that is about to be taken.
   *
   * @param more bytes
   * @param what the name of the things that there are too many of
   * @param count how many of them there are by now
   */
  public void take(long more, Position position, String what, int count) {
    bytes += more;
    if (bytes > mostBytes) {
      refuse(
          position,
          "%s: more than there is memory for, %s take about %s MiB (expected: at most %s MiB, a third of the heap; WEIR_JAVA_OPTS=-Xmx4g makes it larger)"
              .formatted(
                  what,
                  Words.count(count),
                  Words.count(bytes >> 20),
                  Words.count(mostBytes >> 20)));
    }
  }

  /** Reports that something does not fit, if this is the first time. */
  public void refuse(Position position, String message) {
    if (!full) {
      full = true;
      problems.error(position, message);
    }
  }
}
