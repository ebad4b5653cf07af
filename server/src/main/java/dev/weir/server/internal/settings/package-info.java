/**
 * The settings of a server, and their reader: they come from flags, the environment and a file,
 * with all errors reported at once. Depends only on the types of {@code dev.weir.server.settings}.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.settings;
