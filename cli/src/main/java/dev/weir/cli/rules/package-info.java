/**
 * Commands on rules: lint, explain, and the rules of a server's store.
 *
 * <ul>
 *   <li>{@link dev.weir.cli.rules.LintCommand}: checks rule files
 *   <li>{@link dev.weir.cli.rules.ExplainCommand}: the rules of a request and the reasons
 *   <li>{@link dev.weir.cli.rules.RulesCommand}: the group {@code weir rules}
 *   <li>{@link dev.weir.cli.rules.ConfigCommand}: the group {@code weir config}
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.cli.rules;
