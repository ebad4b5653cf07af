/**
 * Rules: files are parsed into an immutable set of rules that is matched, explained and compared.
 *
 * <ul>
 *   <li>{@link dev.weir.rules.Rules}: parses and validates; begin here
 *   <li>{@link dev.weir.rules.RuleSet}: the rules of all domains; {@link dev.weir.rules.Rule} is
 *       one
 *   <li>{@link dev.weir.rules.Request}: a request with its descriptors
 *   <li>{@link dev.weir.rules.Explanation}: the steps of a match
 *   <li>{@link dev.weir.rules.RuleWatcher}: files that change
 * </ul>
 *
 * <p>{@code internal.parse} reads the files.
 *
 * <p>More than 20 types: the values of a rule set are one vocabulary that callers use together.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.rules;
