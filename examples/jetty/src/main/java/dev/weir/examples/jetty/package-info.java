/** Limits in a plain Jetty, by two filters. */
@org.jspecify.annotations.NullMarked
package dev.weir.examples.jetty;
