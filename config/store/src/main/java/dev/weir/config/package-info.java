/**
 * The configuration store: rules and limits of subjects in a database, with revisions and a chained
 * log of changes.
 *
 * <ul>
 *   <li>{@link dev.weir.config.ConfigStore}: the store; begin here
 *   <li>{@link dev.weir.config.ConfigStores}: opens a store by its address
 *   <li>{@link dev.weir.config.SubjectRecord}: the limits of one subject
 *   <li>{@link dev.weir.config.Change}: an entry of the log of changes
 * </ul>
 *
 * <p>{@code follow} brings changes to servers; {@code rows} builds a store on any database with
 * rows.
 *
 * <p>More than 20 types: records, revisions and changes are one vocabulary that callers use
 * together.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.config;
