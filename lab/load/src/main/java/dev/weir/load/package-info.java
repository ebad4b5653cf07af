/**
 * A generator that puts load on a running server, at fixed due times or as fast as it answers, and
 * measures it.
 *
 * <p>More than 20 types: each port has a client, a reader and a schedule of its own.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.load;
