/** Stress tests of what processors and compilers may do to threads that meet in the tables. */
@NullMarked
package dev.weir.stress;

import org.jspecify.annotations.NullMarked;
