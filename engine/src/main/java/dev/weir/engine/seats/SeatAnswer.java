package dev.weir.engine.seats;

import dev.weir.engine.Answer;

/**
 * The answer to a request that takes a seat.
 *
 * @param answer the decision
 * @param seat the text with which the seat is renewed and given back; empty if the request was
 *     refused
 * @param holdNanos the time from the request on within which the seat has to be renewed, in
 *     nanoseconds; 0 if no limit at the same time counts the request, or it was refused
 */
public record SeatAnswer(Answer answer, String seat, long holdNanos) {}
