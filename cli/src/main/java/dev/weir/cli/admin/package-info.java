/**
 * Commands on administration: tokens, the audit log, the dashboard.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.admin.AdminClient}: requests to the administration port; begin here
 *   <li>{@link dev.weir.cli.admin.TokensCommand}: the group {@code weir tokens}
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.admin;
