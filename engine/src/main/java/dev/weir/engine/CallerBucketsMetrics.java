package dev.weir.engine;

/**
 * The counts of {@link CallerBuckets} since they began; a snapshot.
 *
 * @param requests all that the store has answered
 * @param denied those of them that were refused
 * @param keySpaceFull those of the refused that were new keys without room
 * @param uncertain those of the refused that the store could not decide
 * @param overloaded requests that were answered without the store, for want of time
 */
public record CallerBucketsMetrics(
    long requests, long denied, long keySpaceFull, long uncertain, long overloaded) {}
