package dev.weir.shared;

import dev.weir.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The connection to a shared store, of one server or several. Safe for use by many threads.
 *
 * <p>The code that decides at the other end counts windows and granules in whole microseconds,
 * rounded up ({@link SharedBinding#countedWindowNanos}), and its instants are whole microseconds:
 * these distinguish the store's decisions from those of this process, whose instants are a
 * nanosecond later. Those of seats, which stand for nothing but their seat, may be later by other
 * nanoseconds.
 */
public interface Link extends AutoCloseable {
  /** Returns the encoding of a policy and its keys in calls; kept by its binding. */
  PolicyCode code(String name, Policy policy);

  /**
   * Returns the encoding of another policy on the keys of a binding and their state: see {@link
   * dev.weir.Store#variant}.
   */
  PolicyCode variant(PolicyCode code, Policy policy);

  /**
   * Returns whether the store counts seats, the permits of {@link dev.weir.Algorithm#CONCURRENCY};
   * while it does not, operations with seats fail with {@link Failure#STATE}. Default: true.
   */
  default boolean countsSeats() {
    return true;
  }

  /** Returns the caller of the shard that a key is on; null while that shard is not known. */
  @Nullable Caller caller(SharedBinding binding, long fingerprint);

  /**
   * Returns the failure of an operation whose key has no {@link #caller}. Default: {@link
   * Failure#MOVED}, since no shard has the key.
   */
  default Failure withoutCaller() {
    return Failure.MOVED;
  }

  /**
   * Called after a shard did not have a requested key: another one has it, or will have it in a
   * moment. Default: does nothing.
   */
  default void moved() {}

  /** Returns whether requests for any keys are decided in one step, wherever the keys are. */
  boolean oneSlot();

  /** Returns the slot of a key, 0 if there is only one slot. */
  int slot(SharedBinding binding, long fingerprint);

  /** Fails operations that have waited too long, and probes; to be called often. */
  void tick();

  /**
   * Returns whether {@link #tick} has nothing to do until the next request; it is then called less
   * often. Default: false.
   */
  default boolean idle() {
    return false;
  }

  /** Returns whether all shards can be called. */
  boolean available();

  /** Returns the reason why not all shards can be called, in words; empty if they can. */
  String problem();

  /** Returns the number of operations that wait to be sent. */
  long queued();

  /** Accepts no more operations, and waits a bounded time for the missing answers. */
  @Override
  void close();
}
