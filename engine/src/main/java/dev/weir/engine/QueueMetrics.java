package dev.weir.engine;

/**
 * The counts of requests that waited for their turn; a snapshot.
 *
 * @param waiting requests that wait now
 * @param admitted requests that waited and were then admitted
 * @param refused requests that were to wait and were refused after all: there was no room, the wait
 *     was hopeless, or their time was over
 * @param left requests whose client went away while they waited
 * @param waitedNanos the time that those admitted and refused have waited, in nanoseconds
 */
public record QueueMetrics(long waiting, long admitted, long refused, long left, long waitedNanos) {

  /** The counts of an engine without queues. */
  public static final QueueMetrics NONE = new QueueMetrics(0, 0, 0, 0, 0);
}
