package dev.weir.redis;

import java.util.concurrent.CompletionStage;

/** One Redis that decides: the only one, or a node of a cluster. Safe for use by many threads. */
interface Shard {
  /**
   * Calls the script. All keys are in one slot of a cluster.
   *
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<byte[]> call(byte[][] keys, byte[] message);

  /**
   * Finds out whether the shard decides, by a call of the script that writes.
   *
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<byte[]> probe();

  /** Returns what is complete once all has been read that had arrived when this was called. */
  CompletionStage<?> turn();

  /** Returns what keys of one call must have in common. */
  int slot(byte[] key);

  /** Returns how many calls may be on their way at once. */
  int maxInFlight();
}
