/**
 * The parser of rule files: YAML with positions, fields with their checks, and problems with hints.
 *
 * <ul>
 *   <li>{@link dev.weir.rules.internal.parse.RuleParser}: a file to a tree of rules; begin here
 *   <li>{@link dev.weir.rules.internal.parse.YamlReader}: YAML as nodes with line and column
 *   <li>{@link dev.weir.rules.internal.parse.RateLimitParser}: the fields of a limit
 *   <li>{@link dev.weir.rules.internal.parse.Problems}: all problems of a file
 *   <li>{@link dev.weir.rules.internal.parse.RuleTree}: the tree that requests are matched with
 * </ul>
 *
 * <p>More than 20 types: each group of fields has a parser of its own.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.rules.internal.parse;
