package dev.weir.shared;

import dev.weir.Charges.Role;
import java.util.concurrent.CompletionStage;

/**
 * A message to a shard under construction: its operations are decided in the order in which they
 * are added. Not safe for use by several threads at once.
 */
public interface Call {
  /** A mark in place of an instant: the shard decides by its own clock. */
  long SHARDS_TIME = Long.MIN_VALUE;

  /**
   * Begins a request of several charges, each to be added by {@link #charge}. Its part of the reply
   * is one number, 1 if the whole is allowed, and then a result for each charge.
   *
   * @param peeking true to decide without charging
   * @param maxWaitNanos the longest time that the charge may lie ahead, if {@code queued}
   */
  void decideMany(int charges, boolean peeking, boolean queued, long maxWaitNanos);

  /** Adds a charge to the request that was begun last. */
  void charge(SharedBinding binding, long fingerprint, long permits, Role role);

  /**
   * Adds a request for the same permits, as often as they fit, at most {@code count} times. Its
   * part of the reply is the number of times that they fitted, and the result after the last of
   * them.
   */
  void decideOne(SharedBinding binding, long fingerprint, long permits, long count);

  /**
   * Adds permits that are already admitted, to be counted even if they do not fit. Its part of the
   * reply is a result.
   */
  void record(SharedBinding binding, long fingerprint, long permits);

  /**
   * Adds a refund of permits. Its part of the reply is the number of permits given back.
   *
   * @param atNanos the instant for which they were charged
   * @param resetNanos the instant at which the key would have been reset after the charge
   */
  void refund(SharedBinding binding, long fingerprint, long permits, long atNanos, long resetNanos);

  /**
   * Adds a reset, which removes a key's state in one step. Its part of the reply is 1 if there was
   * a state, else 0.
   */
  void reset(SharedBinding binding, long fingerprint);

  /**
   * Adds a renewal of a seat. Its part of the reply is 1 if the seat was still held, else 0.
   *
   * @param atNanos the instant at which the seat was taken
   */
  void renew(SharedBinding binding, long fingerprint, long atNanos);

  /**
   * Sends all operations as one message, which is never repeated.
   *
   * @param nowNanos the instant of the decision, or {@link #SHARDS_TIME}
   * @return the reply; fails with a {@link ShardException}
   */
  CompletionStage<? extends Reply> send(long nowNanos);
}
