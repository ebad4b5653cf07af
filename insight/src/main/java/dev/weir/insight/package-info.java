/**
 * What a server has decided, for people who look: its history, the busiest and most refused keys,
 * the last refusals.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.insight;
