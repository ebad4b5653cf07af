/**
 * Counters of decisions, by rule and in total.
 *
 * <ul>
 *   <li>{@link dev.weir.engine.internal.metrics.EngineCounters}: totals; begin here
 *   <li>{@link dev.weir.engine.internal.metrics.RuleCounters}: counters of one rule
 *   <li>{@link dev.weir.engine.internal.metrics.RuleLabels}: names of rules as labels of metrics
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.engine.internal.metrics;
