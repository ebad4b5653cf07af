package dev.weir.engine;

/**
 * What a rule has counted since it first came into force, in permits.
 *
 * @param path the rule's path: domain, then key or key_value per level
 * @param totalHits permits asked for
 * @param overLimit permits beyond the limit
 * @param nearLimit permits above the near share and not beyond the limit
 * @param withinLimit permits admitted within the limit
 * @param tolerated permits that passed beyond the limit because of the rule's throttle
 * @param shadowMode permits of requests that were over and passed because the rule only watches
 */
public record RuleMetrics(
    String path,
    long totalHits,
    long overLimit,
    long nearLimit,
    long withinLimit,
    long tolerated,
    long shadowMode) {}
