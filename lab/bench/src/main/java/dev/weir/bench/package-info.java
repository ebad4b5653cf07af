/**
 * Benchmarks of Weir beside other limiters, run together. Not published.
 *
 * <p>{@code Suite} runs them, {@code Summary} makes a table of what they wrote, {@code BytesPerKey}
 * weighs what a key costs in memory. {@code lab/bench/run} calls all three.
 *
 * <p>More than 20 types: each benchmark is a class of its own, as JMH wants it.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench;
