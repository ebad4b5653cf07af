/**
 * Requests that wait for permits, in order of arrival.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.queues.Queues}: a queue for each key that has waiting
 *       requests; begin here
 *   <li>{@link dev.weir.engine.internal.queues.FirstAnswer}: an answer that arrives once, from a
 *       decision or a failure
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.queues;
