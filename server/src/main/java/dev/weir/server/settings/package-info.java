/**
 * The settings of a server, for those who write or show them; {@link dev.weir.server.ServerOptions}
 * reads them.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.settings;
