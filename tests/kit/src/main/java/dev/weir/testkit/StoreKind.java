package dev.weir.testkit;

import dev.weir.Algorithm;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Store;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A kind of store for the contract suites, whether it answers at once or by callback.
 *
 * @param empty creates an empty store with room for a million keys
 * @param check fails if the invariants of a store do not hold; called after each test, when no call
 *     is in progress
 * @param resolutionNanos the length of the steps in which the store counts time: 1 ns to 1 ms, a
 *     divisor of 1 ms. The suites send requests only at multiples of it, and use only windows and
 *     granules that are multiples of it; {@link Oracle} describes the answers that they expect
 * @param mostFineNanos the longest time that the store counts in nanoseconds, see {@link
 *     Oracle#of(Policy, long, long)}
 * @param effort the part of the random trials and repetitions to run, above 0 and at most 1: less
 *     for a store that is far away
 * @param exact true if the store counts small limits of {@link Algorithm#SLIDING_WINDOW} exactly,
 *     in steps of the resolution; false if permits return late as in {@link MemoryStore}
 * @param countsState true if {@link Store#keys()} and {@link Store#bytes()} return what the store
 *     holds; only then do the suites read them
 */
public record StoreKind(
    Supplier<? extends Store> empty,
    Consumer<? super Store> check,
    long resolutionNanos,
    long mostFineNanos,
    double effort,
    boolean exact,
    boolean countsState) {
  /** Returns a kind that counts its state, and any time in nanoseconds, and gets full effort. */
  public static StoreKind of(Supplier<? extends Store> empty) {
    return new StoreKind(empty, store -> {}, 1, Long.MAX_VALUE, 1, false, true);
  }

  /** Returns this kind with a check of the invariants of a store. */
  public <S extends Store> StoreKind withCheck(Class<S> type, Consumer<? super S> check) {
    return new StoreKind(
        empty,
        store -> check.accept(type.cast(store)),
        resolutionNanos,
        mostFineNanos,
        effort,
        exact,
        countsState);
  }

  /**
   * Returns this kind with other steps of time.
   *
   * @param resolutionNanos the length of a step
   * @param mostFineNanos the longest time that is counted in nanoseconds
   */
  public StoreKind withTime(long resolutionNanos, long mostFineNanos) {
    return new StoreKind(empty, check, resolutionNanos, mostFineNanos, effort, exact, countsState);
  }

  /** Returns this kind with a part of the full effort. */
  public StoreKind withEffort(double part) {
    return new StoreKind(empty, check, resolutionNanos, mostFineNanos, part, exact, countsState);
  }

  /** Returns this kind with exact counts of small limits of the default algorithm. */
  public StoreKind exactly() {
    return new StoreKind(empty, check, resolutionNanos, mostFineNanos, effort, true, countsState);
  }

  /** Returns this kind without counts of its state. */
  public StoreKind withoutCounts() {
    return new StoreKind(empty, check, resolutionNanos, mostFineNanos, effort, exact, false);
  }
}
