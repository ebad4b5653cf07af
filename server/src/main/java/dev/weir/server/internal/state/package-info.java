/**
 * Keeps the counts of a server's tables over its restarts. Begin with {@link
 * dev.weir.server.internal.state.StateStorage}, which opens the folder of the settings; the folder
 * itself is the library's {@link dev.weir.StateFolder}.
 */
@NullMarked
package dev.weir.server.internal.state;

import org.jspecify.annotations.NullMarked;
