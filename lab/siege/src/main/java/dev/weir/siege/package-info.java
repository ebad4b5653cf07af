/**
 * Hostile clients against a running server, the ordinary clients that must not suffer from them,
 * and a soak of both.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.siege;
