/**
 * A generator that puts load on a running server, at fixed due times or as fast as it answers, and
 * measures it.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.load;
