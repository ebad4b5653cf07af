/**
 * A soak of two servers and a Redis: minutes of load, attacks and faults, and charts of them.
 *
 * <ul>
 *   <li>{@link dev.weir.siege.soak.Soak}: the soak; begin here
 *   <li>{@link dev.weir.siege.soak.Visitor}: ordinary load, by due times
 *   <li>{@link dev.weir.siege.soak.WindowWatch}: the limits, checked as answers arrive
 *   <li>{@link dev.weir.siege.soak.SoakReport}: the result
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege.soak;
