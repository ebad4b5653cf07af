package dev.weir.shared;

import java.util.concurrent.CompletionStage;

/**
 * One server that decides: the only one, or one of several that have the keys between them. Safe
 * for use by many threads.
 */
public interface Shard {
  /** Returns a call to be written and sent. All its keys are in one slot. */
  Call newCall();

  /**
   * Finds out whether the shard decides, by a call that writes.
   *
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<? extends Reply> probe();

  /** Returns what is complete once all has been read that had arrived when this was called. */
  CompletionStage<?> turn();

  /** Returns what keys of one call must have in common. */
  int slot(SharedBinding binding, long fingerprint);

  /** Returns how many calls may be on their way at once. */
  int maxInFlight();

  /**
   * Returns how many charges one call may have. Default: 128, enough that a call costs little
   * beside them, and few enough for a short script.
   */
  default int maxCharges() {
    return 128;
  }
}
