package dev.weir.shared.internal;

import dev.weir.shared.SharedBinding;

/** What a process may decide by itself of the keys of one binding. Safe for use by many threads. */
public interface LocalAuthority {
  /** Decides, here or by asking the store; calls {@code callback} once. */
  void decide(SharedBinding binding, long fingerprint, long permits, DecideOne.Callback callback);

  /** Instead of a number of permits: they were charged in the store. */
  long NOT_HERE = -1;

  /**
   * Takes back permits that were granted here; returns how many, or {@link #NOT_HERE}.
   *
   * @param atNanos {@link dev.weir.Decision#atNanos()} of the grant
   */
  long refund(long fingerprint, long permits, long atNanos);

  /** Drops what is remembered of a key's refusal: permits come back to it. */
  void forgetRefusal(long fingerprint);

  /** Drops all that is known of a key: the store forgets it. */
  void reset(long fingerprint);

  /** Does what is due. */
  void tick(SharedBinding binding);

  /** Returns whether nothing is held, and no refusal remembered: no key was asked for lately. */
  boolean idle();

  /** Returns whether {@link #close} was called. */
  boolean closed();

  /**
   * Gives everything back. From then on the store is asked each time, as requests may still come.
   */
  void close(SharedBinding binding);
}
