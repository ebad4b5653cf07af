/**
 * Replays of recorded traffic through rules on virtual time, and the reports of them.
 *
 * <ul>
 *   <li>{@link dev.weir.replay.Replay}: one set of rules; begin here
 *   <li>{@link dev.weir.replay.Compare}: two sets of rules
 *   <li>{@link dev.weir.replay.LimitSuggestions}: a limit for a share of refusals
 *   <li>{@link dev.weir.replay.DryRuns}: new rules on the traffic that a server has recorded
 * </ul>
 *
 * <p>{@code internal.judge} decides and counts; {@code internal.pages} writes reports; {@code
 * internal.suggest} searches; {@code internal.recorded} keeps a server's traffic.
 *
 * <p>More than 20 types: each command has its options, its result and its page here, since programs
 * use them as the command line does.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.replay;
