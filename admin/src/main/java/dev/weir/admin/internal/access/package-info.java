/**
 * Tokens, sessions and roles: authentication and authorization of callers, and the audit log.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.internal.access.Authenticator}: the caller of a request; begin here
 *   <li>{@link dev.weir.admin.internal.access.Sessions}: sessions of browsers
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin.internal.access;
