/**
 * Parts of the stores built from rows: keys of rows, sets of writes, the log of changes.
 *
 * <ul>
 *   <li>{@link dev.weir.config.internal.rows.Keys}: keys of rows; begin here
 *   <li>{@link dev.weir.config.internal.rows.WriteSet}: the rows that a change writes
 *   <li>{@link dev.weir.config.internal.rows.Log}: entries of the log under construction
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config.internal.rows;
