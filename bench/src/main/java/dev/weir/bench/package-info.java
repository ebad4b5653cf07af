/** Benchmarks beside the peers. Not published. */
@org.jspecify.annotations.NullMarked
package dev.weir.bench;
