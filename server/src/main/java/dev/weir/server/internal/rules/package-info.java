/**
 * Rules in force: from files or from a configuration store to the engine.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.rules.RulesInForce}: the first rules and each change; begin
 *       here
 *   <li>{@link dev.weir.server.internal.rules.Configuration}: the configuration store of a server
 *   <li>{@link dev.weir.server.internal.rules.RuleSetChange}: the difference that is logged
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.rules;
