/**
 * Generated traffic: the visitors of a site, and their requests as lines of a log.
 *
 * <ul>
 *   <li>{@link dev.weir.traffic.internal.generate.Visitors}: the kinds of visitors, each with its
 *       requests in order of time; begin here
 *   <li>{@link dev.weir.traffic.internal.generate.VisitWriter}: a visit as a line
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic.internal.generate;
