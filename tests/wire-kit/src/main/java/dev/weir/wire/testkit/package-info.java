/**
 * A real Redis, and clients that say each byte themselves: tests of protocols do not trust the
 * libraries that the product uses. Not published.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.wire.testkit;
