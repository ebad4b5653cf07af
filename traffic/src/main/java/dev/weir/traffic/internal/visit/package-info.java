/**
 * Visits: requests that are generated, and the counts of an inspection.
 *
 * <ul>
 *   <li>{@link dev.weir.traffic.internal.visit.Visitors}: the visitors of a generated site; begin
 *       here
 *   <li>{@link dev.weir.traffic.internal.visit.VisitWriter}: a visit as a line of a log
 *   <li>{@link dev.weir.traffic.internal.visit.UnreadableTally}: lines that could not be read, by
 *       reason
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic.internal.visit;
