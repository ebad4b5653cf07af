/**
 * A server that is killed and comes back, again and again, with its counts in a folder.
 *
 * <ul>
 *   <li>{@link dev.weir.siege.crash.CrashSiege}: the siege; begin here
 *   <li>{@link dev.weir.siege.crash.CrashRules}: the rules of the server
 *   <li>{@link dev.weir.siege.crash.Ledger}: the permits of each key by the clients' answers, and
 *       what they prove
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege.crash;
