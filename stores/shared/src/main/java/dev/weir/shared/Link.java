package dev.weir.shared;

import dev.weir.Policy;
import org.jspecify.annotations.Nullable;

/**
 * The way to a shared store, whatever is there: one server or several. Safe for use by many
 * threads.
 *
 * <p>What decides at the other end counts windows and granules in whole microseconds, rounded up
 * ({@link SharedBinding#countedWindowNanos}), and its instants are whole microseconds: by those
 * this process distinguishes its own decisions from the store's.
 */
public interface Link extends AutoCloseable {
  /** Returns how a policy and its keys are written in calls; kept by its binding. */
  PolicyCode code(String name, Policy policy);

  /**
   * Returns how another policy is written that uses the keys of a binding, and their state: see
   * {@link dev.weir.Store#variant}.
   */
  PolicyCode variant(PolicyCode code, Policy policy);

  /** Returns what calls the shard that a key is on; null while it is not known which that is. */
  @Nullable Caller caller(SharedBinding binding, long fingerprint);

  /**
   * Takes note that a shard did not have a key that was asked of it: another one has it, or will
   * have it in a moment. Default: nothing.
   */
  default void moved() {}

  /** Returns whether all keys are decided in one step, wherever they are. */
  boolean oneSlot();

  /** Returns the slot of a key, 0 where there is only one. */
  int slot(SharedBinding binding, long fingerprint);

  /** Expires what has waited too long and probes; to be called often. */
  void tick();

  /**
   * Returns whether {@link #tick} has nothing to do until something is asked: it is then called
   * less often. Default: never.
   */
  default boolean idle() {
    return false;
  }

  /** Returns whether everything can be asked. */
  boolean available();

  /** Returns why not everything can be asked, in words; empty if it can. */
  String problem();

  /** Returns how many operations wait to be sent. */
  long queued();

  /** Takes no more operations, and waits a bounded time for the answers that are due. */
  @Override
  void close();
}
