package dev.weir.shared.internal;

import dev.weir.shared.SharedBinding;

/**
 * The permits and refusals by which a process may decide the keys of one binding by itself. Safe
 * for use by many threads.
 */
public interface LocalAuthority {
  /** Decides, here or by a call to the store; calls {@code callback} once. */
  void decide(SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback);

  /** A mark in place of a number of permits: they were charged in the store. */
  long NOT_HERE = -1;

  /**
   * Takes back permits that were granted here; returns their number, or {@link #NOT_HERE}.
   *
   * @param atNanos {@link dev.weir.Decision#atNanos()} of the grant
   */
  long refund(long fingerprint, long permits, long atNanos);

  /** Drops the remembered refusals of a key, since permits are given back to it. */
  void forgetRefusal(long fingerprint);

  /** Drops everything held of a key, since the store resets it. */
  void reset(long fingerprint);

  /** Does the due work. */
  void tick(SharedBinding binding);

  /** Returns true if no permits and no refusals are held: no key was requested lately. */
  boolean idle();

  /** Returns whether {@link #close} was called. */
  boolean closed();

  /** Gives everything back. From then on the store decides each request that still comes. */
  void close(SharedBinding binding);
}
