package dev.weir.redis;

import java.util.Map;

/**
 * What a store has counted since it began; a snapshot.
 *
 * @param available whether Redis can be asked now
 * @param calls to the script, each for one or more decisions
 * @param decided charges that Redis decided
 * @param merged charges that shared another's place in a call, being for the same key
 * @param held charges that were decided here, by an allotment, a local count or a remembered
 *     refusal
 * @param fallback charges that were decided here because Redis could not be asked
 * @param failures charges that got no answer in time or at all, by kind: {@code timeout}, {@code
 *     disconnected}, {@code open} (the circuit breaker), {@code overloaded}, {@code readonly},
 *     {@code loading}, {@code busy}, {@code moved}, {@code replicas}, {@code oom}, {@code noperm}
 *     (Redis's user may not do it), {@code state} (what is stored for the key is not Weir's),
 *     {@code other}
 * @param late permits admitted by answers that came too late, which were given back
 * @param burned permits that may have been charged for requests that were refused, and were not
 *     given back
 * @param queued charges that wait to be sent
 * @param clockSteps how often Redis's clock was seen to go back, by a millisecond or more
 */
public record RedisMetrics(
    boolean available,
    long calls,
    long decided,
    long merged,
    long held,
    long fallback,
    Map<String, Long> failures,
    long late,
    long burned,
    long queued,
    long clockSteps) {}
