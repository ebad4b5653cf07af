package dev.weir.shared;

import java.util.concurrent.CompletionStage;

/**
 * One server that decides: the only one, or one of several among which the keys are divided. Safe
 * for use by many threads.
 */
public interface Shard {
  /** Returns a new call, to be written and sent. All its keys must be in one slot. */
  Call newCall();

  /**
   * Finds out whether the shard decides, by a call that writes.
   *
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<? extends Reply> probe();

  /**
   * Returns a stage that is complete once everything has been read that had arrived before this
   * call.
   */
  CompletionStage<?> turn();

  /** Returns the slot of a key; all keys of one call must have the same. */
  int slot(SharedBinding binding, long fingerprint);

  /** Returns the most calls that may be in flight at once. */
  int maxInFlight();

  /**
   * Returns the most charges of one call. Default: 128, enough to make the cost of a call small,
   * and few enough for a short script.
   */
  default int maxCharges() {
    return 128;
  }
}
