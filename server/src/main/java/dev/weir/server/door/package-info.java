/**
 * What the protocols share: how requests reach the engine, the bounds on connections and pending
 * bytes, counters, event loops, tokens and certificates. No protocol is known here.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.door;
