/**
 * Rules and stores: a request with several descriptors becomes one answer.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.Engine}: matches a request, decides it in the store, and answers;
 *       begin here
 *   <li>{@link dev.weir.engine.Decider}: the interface of an engine to protocols and middleware
 *   <li>{@link dev.weir.engine.Answer}: the result, with a {@link dev.weir.engine.Status} for each
 *       descriptor
 *   <li>{@link dev.weir.engine.Leases}: permits that clients are lent for a while
 *   <li>{@link dev.weir.engine.Holds}: the most that requests may cost, settled afterwards
 *   <li>{@link dev.weir.engine.RoutedStore}: rules with stores of their own
 * </ul>
 *
 * <p>Hidden parts: {@code internal.matching} finds the rules of a request and keeps it while it
 * waits; {@code internal.queues}, {@code internal.leases}, {@code internal.holds}, {@code
 * internal.callers}, {@code internal.subjects} and {@code internal.metrics} hold the parts that
 * their names describe; {@code internal.stores} divides a request between two stores.
 *
 * <p>More than 20 types: requests, answers, leases, queues and their metrics are one vocabulary.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine;
