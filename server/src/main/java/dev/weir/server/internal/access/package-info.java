/**
 * Tokens and certificates, read again when their files change.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.access.Tokens}: tokens of clients; begin here
 *   <li>{@link dev.weir.server.internal.access.Certificates}: certificates of the ports
 *   <li>{@link dev.weir.server.internal.access.WatchedFiles}: files whose content is used once two
 *       reads agree
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.access;
