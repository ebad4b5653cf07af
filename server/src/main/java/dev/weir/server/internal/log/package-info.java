/**
 * The log of the process: events as text or JSON, at a bounded rate.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.log.Logs}: handlers and formats; begin here
 *   <li>{@link dev.weir.server.internal.log.LogEvent}: an event with its fields
 *   <li>{@link dev.weir.server.internal.log.FewLines}: a bounded number of lines a second
 *   <li>{@link dev.weir.server.internal.log.RefusalLog}: refused requests
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.log;
