/**
 * A ticker to advance by hand, oracles, the window checker and contract suites for limiters and
 * stores.
 *
 * <p>More than 20 types: each contract is a class that tests inherit.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.testkit;
