/** Requests that were recorded in a log, or generated: reading and making them. */
@org.jspecify.annotations.NullMarked
package dev.weir.traffic;
