/**
 * Values of columns that have a meaning of their own: instants. Begin with {@link
 * dev.weir.traffic.internal.values.TimeReader}; {@link dev.weir.traffic.internal.values.WallClock}
 * gives times without a zone their instants.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic.internal.values;
