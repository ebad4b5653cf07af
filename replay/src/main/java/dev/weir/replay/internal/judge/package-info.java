/**
 * The run itself: decisions on virtual time, and the counts of a report.
 *
 * <ul>
 *   <li>{@link dev.weir.replay.internal.judge.Run}: one run; begin here
 *   <li>{@link dev.weir.replay.internal.judge.VirtualTime}: the clock of a run
 *   <li>{@link dev.weir.replay.internal.judge.KeyUse}: the use of a limit by key
 *   <li>{@link dev.weir.replay.internal.judge.BusyWindows}: the busiest windows of a rule
 *   <li>{@link dev.weir.replay.internal.judge.QueueRun}: a run with waiting requests
 * </ul>
 *
 * <p>More than 20 types: each thing that a report counts has a type.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.replay.internal.judge;
