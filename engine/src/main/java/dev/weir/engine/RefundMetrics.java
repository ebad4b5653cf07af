package dev.weir.engine;

/**
 * The counts of refunds by number, those of {@link dev.weir.rules.Descriptor#refund}.
 *
 * @param given the permits that were given back, or taken off what the same request was charged
 * @param kept the permits that were not given back: they were not charged, their request had been
 *     refused, or their store cannot give them back
 */
public record RefundMetrics(long given, long kept) {}
