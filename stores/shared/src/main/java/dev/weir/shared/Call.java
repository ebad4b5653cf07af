package dev.weir.shared;

import dev.weir.Charges.Role;
import java.util.concurrent.CompletionStage;

/**
 * One message to a shard being written: operations, decided in the order in which they are added.
 * Not safe for use by several threads at once.
 */
public interface Call {
  /** Instead of an instant: the shard's own clock decides. */
  long SHARDS_TIME = Long.MIN_VALUE;

  /**
   * Begins a request of several charges, each to be added by {@link #charge}. Its part of the reply
   * is one number, 1 if the whole is allowed, and then a result for each charge.
   *
   * @param peeking whether nothing is to be charged
   * @param maxWaitNanos how far ahead the charge may lie, where {@code queued}
   */
  void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos);

  /** Adds a charge to the request that was begun last. */
  void charge(SharedBinding binding, long fingerprint, long permits, Role role);

  /**
   * Adds a request for the same permits, as often as they fit, at most {@code count} times. Its
   * part of the reply is how often they fitted, and the result after the last time.
   */
  void decideOne(SharedBinding binding, long fingerprint, long permits, long count);

  /**
   * Adds permits that are admitted already, to be counted whether they fit or not. Its part of the
   * reply is a result.
   */
  void record(SharedBinding binding, long fingerprint, long permits);

  /**
   * Adds permits to be given back. Its part of the reply is how many were.
   *
   * @param atNanos the instant for which they were charged
   * @param resetNanos the instant at which the key would have been reset after the charge
   */
  void refund(SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos);

  /**
   * Has a key forgotten, in one step. Its part of the reply is 1 if there was anything to forget,
   * else 0.
   */
  void reset(SharedBinding binding, long fingerprint);

  /**
   * Sends all of them as one message: once, and never again.
   *
   * @param nowNanos the instant to decide at, or {@link #SHARDS_TIME}
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<? extends Reply> send(long nowNanos);
}
