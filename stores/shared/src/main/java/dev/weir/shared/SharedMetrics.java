package dev.weir.shared;

import java.util.Map;

/**
 * A snapshot of a store's counters since its start.
 *
 * @param kind the kind of store, for example {@code redis}
 * @param available whether every part of the store (node, group) can be called now
 * @param calls to the store, each for one or more decisions
 * @param decided charges that the store decided
 * @param merged charges that were merged with another of the same key in a call
 * @param held charges that this process decided, by an allotment, a local count or a remembered
 *     refusal
 * @param onFailureLocal charges that were decided in this process because the store could not be
 *     called and their policies' failure mode is local
 * @param failures operations that the store did not decide in time, of all kinds, each with the
 *     number of its charges, by kind: {@code timeout}, {@code disconnected}, {@code open} (the
 *     circuit breaker), {@code overloaded}, {@code readonly}, {@code loading}, {@code busy}, {@code
 *     moved}, {@code replicas}, {@code noreplicas}, {@code misconf}, {@code oom}, {@code noperm}
 *     (the store's user lacks a permission), {@code no_leader} (of a cluster's group), {@code
 *     state} (the store cannot count the key), {@code other}
 * @param late permits admitted by answers that came too late, which were given back
 * @param burned permits that may have been charged for requests that were refused, and were not
 *     given back
 * @param queued charges that wait to be sent
 * @param clockSteps the steps back of the store's clock that were noticed, each of a millisecond or
 *     more
 * @param losses the signs that the store has lost counts, by kind: {@code counts} (it came back
 *     empty or older), {@code restart} (another process of the store answers), {@code eviction}
 *     (evicted keys)
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
    long clockSteps,
    Map<String, Long> losses) {}
