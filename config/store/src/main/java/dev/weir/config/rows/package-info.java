/**
 * Stores built from rows: the same rules of writing for every database.
 *
 * <ul>
 *   <li>{@link dev.weir.config.rows.RowConfigStore}: a store on rows that are written in
 *       transactions; begin here
 *   <li>{@link dev.weir.config.rows.LoggedRows}: transactions for databases that have none over
 *       several rows
 *   <li>{@link dev.weir.config.rows.Rows}: the interface of a database
 *   <li>{@link dev.weir.config.rows.MemoryRows}: rows in memory
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config.rows;
