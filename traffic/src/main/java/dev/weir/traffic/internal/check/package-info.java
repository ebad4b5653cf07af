/**
 * Checks of recorded traffic: doubts about its lines and keys, which become warnings.
 *
 * <ul>
 *   <li>{@link dev.weir.traffic.internal.check.KeyCheck}: the values of a descriptor's entry in all
 *       records; begin here
 *   <li>{@link dev.weir.traffic.internal.check.UnreadableTally}: the lines that cannot be read
 *   <li>{@link dev.weir.traffic.internal.check.DistinctValues}: the number of different values of a
 *       column
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic.internal.check;
