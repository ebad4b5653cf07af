/** The weir command. */
@org.jspecify.annotations.NullMarked
package dev.weir.cli;
