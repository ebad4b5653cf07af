package dev.weir.cluster.internal.peer;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * This process's end of its connections to members.
 *
 * @param loops run the connections
 * @param self the process, as it introduces itself
 * @param tls null for connections without TLS
 */
record PeerEnd(
    PeerLoops loops, PeerSelf self, @Nullable PeerTls tls, Consumer<? super String> log) {}
