package dev.weir.load;

/** Receives the progress of a load, about once a second. */
public interface LoadProgress {
  /**
   * Receives the progress.
   *
   * @param atNanos since the beginning, warm-up included
   * @param ofNanos warm-up and measured time
   * @param latest the last second, if it was measured already
   */
  void at(long atNanos, long ofNanos, LoadResult.Second latest);
}
