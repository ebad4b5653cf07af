/**
 * The traffic that a server records in memory, for dry runs.
 *
 * <ul>
 *   <li>{@link dev.weir.replay.internal.recorded.TrafficStripe}: a part of the recording, by key;
 *       begin here
 *   <li>{@link dev.weir.replay.internal.recorded.TrafficSegment}: requests as bytes
 *   <li>{@link dev.weir.replay.internal.recorded.RecordedLoad}: the load at each record
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.replay.internal.recorded;
