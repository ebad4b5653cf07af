package dev.weir.shared.internal;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.SharedBinding;
import dev.weir.shared.StoreSettings;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits and refusals by which a process may decide the keys of one binding by itself. Safe
 * for use by many threads.
 */
public interface LocalAuthority {
  /** Returns the authority for a policy; null if the store decides each request. */
  static @Nullable LocalAuthority of(
      Policy policy, StoreSettings settings, HeldKeys held, Consumer<? super Operation> store) {
    Clocks clocks = settings.clocks();
    Counters counters = settings.counters();
    return switch (policy.sharing().consistency()) {
      // By another clock than the callers', the refusals kept here would end at another time; and a
      // seat that another process gives back is free at once.
      case STRICT ->
          settings.callersClock() || policy.algorithm() == Algorithm.CONCURRENCY
              ? null
              : new StoreAuthority(clocks, counters, held, store);
      case LEASED -> new Allotments(policy, clocks, counters, held, store);
      case APPROXIMATE -> new LocalCounts(policy, clocks, counters, held, store);
    };
  }

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
