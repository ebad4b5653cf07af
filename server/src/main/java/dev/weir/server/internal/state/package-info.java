/**
 * Counts over restarts: images of the tables in a folder.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.state.StateFolder}: the folder with its lock, images, and
 *       the mark of a running server; begin here
 *   <li>{@link dev.weir.server.internal.state.StateClock}: times that can be compared across
 *       restarts
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.state;
