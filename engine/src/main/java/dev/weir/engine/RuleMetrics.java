package dev.weir.engine;

/**
 * The counts of a rule since it first came into force, in permits. Every permit that was requested
 * is in exactly one of six classes, from {@code withinLimit} to {@code undecided}; {@code
 * nearLimit} and {@code shadowMode} mark some of them.
 *
 * @param path the rule's path: domain, then key or key_value per level
 * @param policy the name in answers: that of the rule, or its path if it has none
 * @param withinLimit permits admitted within the limit
 * @param tolerated permits of requests that passed beyond the limit because of the rule's throttle
 * @param overLimit permits beyond the limit
 * @param incomplete permits that would have fitted, of requests of which others were beyond the
 *     limit; not charged
 * @param refusedByOther permits that fitted and were not charged, because another descriptor of the
 *     request did not fit
 * @param undecided permits of which it was not known whether they fit: the store could not be
 *     reached, the server was overloaded, or there was no room for a new key
 * @param nearLimit permits above the near share and not beyond the limit, whichever class they are
 *     in
 * @param shadowMode permits of requests that were over and passed because the rule only watches
 */
public record RuleMetrics(
    String path,
    String policy,
    long withinLimit,
    long tolerated,
    long overLimit,
    long incomplete,
    long refusedByOther,
    long undecided,
    long nearLimit,
    long shadowMode) {

  /** Returns the sums of both, under this one's path and policy. */
  public RuleMetrics plus(RuleMetrics other) {
    return new RuleMetrics(
        path,
        policy,
        withinLimit + other.withinLimit,
        tolerated + other.tolerated,
        overLimit + other.overLimit,
        incomplete + other.incomplete,
        refusedByOther + other.refusedByOther,
        undecided + other.undecided,
        nearLimit + other.nearLimit,
        shadowMode + other.shadowMode);
  }

  /** Returns the permits that were requested: the sum of the classes. */
  public long totalHits() {
    return withinLimit + tolerated + overLimit + incomplete + refusedByOther + undecided;
  }
}
