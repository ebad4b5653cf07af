/**
 * The values of requests for seats, which are permits of a limit at the same time ({@link
 * dev.weir.Algorithm#CONCURRENCY}): answers, results and counts. The engine's {@link
 * dev.weir.engine.Seats} makes them. {@link dev.weir.engine.seats.RequestSeats} keeps the seats of
 * requests in middleware until they have ended.
 */
@NullMarked
package dev.weir.engine.seats;

import org.jspecify.annotations.NullMarked;
