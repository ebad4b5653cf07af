/**
 * The settings of a server, and their reader: they come from flags, the environment and a file,
 * with all errors reported at once. Depends on no other package of the server.
 *
 * <p>More than 20 types: each kind of value, and each group of checks, is a type.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.settings;
