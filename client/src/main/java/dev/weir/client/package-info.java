/**
 * A client of the service that decides most requests without a call.
 *
 * <ul>
 *   <li>{@link dev.weir.client.WeirClient}: the client; begin here
 *   <li>{@link dev.weir.client.ClientMetrics}: its counts
 * </ul>
 *
 * <p>{@code internal.lease} spends leased permits; {@code internal.wire} calls the service.
 */
@org.jspecify.annotations.NullMarked
package dev.weir.client;
