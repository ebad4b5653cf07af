/**
 * The search for limits that refuse a given share.
 *
 * <ul>
 *   <li>{@link dev.weir.replay.internal.suggest.LimitSearch}: the search over one rule; begin here
 *   <li>{@link dev.weir.replay.internal.suggest.SuggestedRules}: rule files with the limits found
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.replay.internal.suggest;
