package dev.weir.load;

/** Receives the progress of a load after each of its parts. */
public interface LoadProgress {
  /**
   * Receives the progress.
   *
   * @param atNanos since the beginning, warm-up included
   * @param ofNanos warm-up and measured time
   * @param latest the last part, if it was measured already
   */
  void at(long atNanos, long ofNanos, LoadResult.Part latest);
}
