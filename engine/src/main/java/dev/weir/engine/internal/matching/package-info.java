/**
 * The rules of a request, and the request while it is being decided.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.matching.RequestMatcher}: finds the rules of each
 *       descriptor; begin here
 *   <li>{@link dev.weir.engine.internal.matching.PendingRequest}: a request between match and
 *       answer
 *   <li>{@link dev.weir.engine.internal.matching.RuleBindings}: the bindings of a revision's rules
 *       in the store
 *   <li>{@link dev.weir.engine.internal.matching.Revision}: an immutable set of rules in force
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.matching;
