/**
 * Resources of rules: versions, changes, explanations, dry runs, and the rollout to all servers.
 *
 * <ul>
 *   <li>{@link dev.weir.admin.internal.rules.RuleChangesResource}: changes of rule files; begin
 *       here
 *   <li>{@link dev.weir.admin.internal.rules.RulesResource}: the rules in force
 *   <li>{@link dev.weir.admin.internal.rules.Barrier}: the wait until all servers have a revision
 *   <li>{@link dev.weir.admin.internal.rules.RuleVersions}: earlier versions
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.admin.internal.rules;
