/**
 * The common path of a decision from any port to the engine.
 *
 * <ul>
 *   <li>{@link dev.weir.server.internal.deciding.GuardedDecider}: the engine with load, failures,
 *       records of traffic and an upstream; begin here
 *   <li>{@link dev.weir.server.internal.deciding.QuickDecider}: decisions of plain requests without
 *       objects
 *   <li>{@link dev.weir.server.internal.deciding.RlsMessages}: Envoy's messages to requests and
 *       back
 * </ul>
 */
@org.jspecify.annotations.NullMarked
package dev.weir.server.internal.deciding;
