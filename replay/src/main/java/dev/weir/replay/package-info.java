/** Recorded traffic through rules on virtual time. */
@org.jspecify.annotations.NullMarked
package dev.weir.replay;
