/**
 * Benchmarks of Weir beside other limiters, run together. Not published.
 *
 * <p>{@code Suite} runs them, {@code Summary} makes a table of their results, {@code BytesPerKey}
 * measures the memory of a key. {@code lab/bench/run} calls all three.
 *
 * <p>More than 20 types: each benchmark is a class of its own, as JMH requires.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.bench;
