package dev.weir;

/** The ends that leave the counts of a {@link StateFolder} complete, beside an orderly one. */
public enum StateDurability {
  /** No other one: counts are saved when the process ends in order. */
  NONE,
  /**
   * The end of the process at any instant, while the machine runs on: every admission is in a
   * journal before it is answered.
   */
  PROCESS,
  /**
   * The end of the machine too: an admission is answered when the journal is on the disk, together
   * with all that wait for that ({@link StateFolder#answering}).
   */
  MACHINE
}
