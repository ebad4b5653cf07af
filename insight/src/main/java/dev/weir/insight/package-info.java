/**
 * The records of a server's decisions: its history, the busiest and most refused keys, and the last
 * refusals.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.insight;
