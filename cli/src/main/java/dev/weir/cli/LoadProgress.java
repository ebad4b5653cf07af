package dev.weir.cli;

/** Is told about once a second how far a load is. */
interface LoadProgress {
  /**
   * Takes note.
   *
   * @param atNanos since the beginning, warm-up included
   * @param ofNanos warm-up and measured time
   * @param latest the last second, if it was measured already
   */
  void at(long atNanos, long ofNanos, LoadResult.Second latest);
}
