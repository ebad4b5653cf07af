/**
 * Parts of the followers: polls, backoff, last known values, clocks.
 *
 * <ul>
 *   <li>{@link dev.weir.config.internal.follow.Heart}: the report of a follower to the store; begin
 *       here
 *   <li>{@link dev.weir.config.internal.follow.LastRules}: rules kept on disk for a start without
 *       the store
 *   <li>{@link dev.weir.config.internal.follow.SubjectLoads}: look-ups of records, shared and
 *       limited
 *   <li>{@link dev.weir.config.internal.follow.Patience}: pauses between failing polls
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config.internal.follow;
