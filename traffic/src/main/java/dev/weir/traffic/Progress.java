package dev.weir.traffic;

/** Receives how far a replay is. Called on the replay's thread, every few thousand records. */
@FunctionalInterface
public interface Progress {
  /** Ignores it. */
  Progress NONE = (bytes, totalBytes, records) -> {};

  /**
   * Reports it.
   *
   * @param bytes bytes of the input read so far, before decompression
   * @param totalBytes the input's length, or -1 if it is not known
   * @param records records read so far
   */
  void at(long bytes, long totalBytes, long records);
}
