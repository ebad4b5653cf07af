package dev.weir.engine.holds;

import dev.weir.engine.Answer;

/**
 * The answer to a request that holds the most that it may cost.
 *
 * @param answer the decision
 * @param hold the text with which the hold is settled; empty if the request was refused
 */
public record HoldAnswer(Answer answer, String hold) {}
