package dev.weir.traffic;

/**
 * A listener that receives the progress of a replay. Called on the replay's thread, every few
 * thousand records.
 */
@FunctionalInterface
public interface Progress {
  /** A listener that ignores the progress. */
  Progress NONE = (bytes, totalBytes, records) -> {};

  /**
   * Receives the progress.
   *
   * @param bytes the bytes of the input read so far, before decompression
   * @param totalBytes the input's length, or -1 if it is not known
   * @param records the records read so far
   */
  void at(long bytes, long totalBytes, long records);
}
