/**
 * Stress tests of what processors and compilers may do to threads that meet in the tables, and at
 * the permits of adaptive limits.
 *
 * <p>More than 20 types: each is one meeting of threads, which is read by itself.
 */
@NullMarked
package dev.weir.stress;

import org.jspecify.annotations.NullMarked;
