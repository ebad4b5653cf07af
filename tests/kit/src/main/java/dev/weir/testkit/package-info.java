/**
 * A ticker to advance by hand, oracles, the window checker and contract suites for limiters and
 * stores.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.testkit;
