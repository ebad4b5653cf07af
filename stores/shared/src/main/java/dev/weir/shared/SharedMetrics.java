package dev.weir.shared;

import java.util.Map;

/**
 * What a store has counted since it began; a snapshot.
 *
 * @param kind which kind of store it is, for example {@code redis}
 * @param available whether the store can be asked now
 * @param calls to the store, each for one or more decisions
 * @param decided charges that the store decided
 * @param merged charges that were merged with another of the same key in a call
 * @param held charges that this process decided, by an allotment, a local count or a remembered
 *     refusal
 * @param onFailureLocal charges that were decided in this process because the store could not be
 *     asked and their policies' failure mode is local
 * @param failures charges that got no answer in time or at all, by kind: {@code timeout}, {@code
 *     disconnected}, {@code open} (the circuit breaker), {@code overloaded}, {@code readonly},
 *     {@code loading}, {@code busy}, {@code moved}, {@code replicas}, {@code oom}, {@code noperm}
 *     (the store's user may not do it), {@code state} (what is stored for the key is not Weir's),
 *     {@code other}
 * @param late permits admitted by answers that came too late, which were given back
 * @param burned permits that may have been charged for requests that were refused, and were not
 *     given back
 * @param queued charges that wait to be sent
 * @param clockSteps how often the store's clock was seen to go back, by a millisecond or more
 */
public record SharedMetrics(
    String kind,
    boolean available,
    long calls,
    long decided,
    long merged,
    long held,
    long onFailureLocal,
    Map<String, Long> failures,
    long late,
    long burned,
    long queued,
    long clockSteps) {}
