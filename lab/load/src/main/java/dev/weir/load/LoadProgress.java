package dev.weir.load;

/** A receiver of the progress of a load after each of its parts. */
public interface LoadProgress {
  /**
   * Receives the progress.
   *
   * @param atNanos the time since the beginning, warm-up included
   * @param ofNanos the total of warm-up and measured time
   * @param latest the last part, if it was measured already
   */
  void at(long atNanos, long ofNanos, LoadResult.Part latest);
}
