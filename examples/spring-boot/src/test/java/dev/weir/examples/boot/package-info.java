/** The example as its users see it. */
@org.jspecify.annotations.NullMarked
package dev.weir.examples.boot;
