/** Tests of the example from the view of its users. */
@org.jspecify.annotations.NullMarked
package dev.weir.examples.boot;
