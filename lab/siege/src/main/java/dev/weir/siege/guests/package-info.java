/**
 * Clients of a besieged server: ordinary ones that must not suffer, and hostile ones.
 *
 * <ul>
 *   <li>{@link dev.weir.siege.guests.Guest}: an ordinary client; begin here
 *   <li>{@link dev.weir.siege.guests.Attack}: a hostile one
 *   <li>{@link dev.weir.siege.guests.Horde}: many connections of one kind
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege.guests;
