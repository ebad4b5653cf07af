/**
 * A real Redis, and clients that write each byte themselves: tests of protocols do not depend on
 * the libraries that the product uses. Not published.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.wire.testkit;
