package dev.weir.shared.internal;

import dev.weir.Decision;
import dev.weir.Reason;
import dev.weir.shared.Clocks;
import dev.weir.shared.Counters;
import dev.weir.shared.Result;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Refusals of one binding's keys that still hold, so that no call to the store is needed. Safe for
 * use by many threads.
 */
final class Refusals {
  /*
   * How is Refusals designed, and why? A refusal has the time after which the same permits fit if
   * no request uses the key meanwhile; if one does, they fit later. The time is counted from before
   * the call to the store, so the refusal ends here no later than there: by the monotonic or the
   * wall clock, whichever ends it first. Until then the store would refuse the same permits again,
   * and the retry-after that is answered here ends at the same instant.
   *
   * Only five things make the store admit earlier. A refund and a reset through this process drop
   * the key's refusals, under each of its numbers, before the call to the store and again when it
   * has answered: a refusal that was in flight meanwhile may be older. A policy of another quota or
   * shape has Refusals of its own. The other causes remain: refunds, resets and greater quotas of
   * other processes, a step of the store's calendar, which this process does not see, and a refusal
   * that overtakes the answer to a refund. So a refusal is remembered for a bounded time, however
   * long its retry-after is: it may be false for that time, and it never admits anything. For a
   * busy key, the store is called once in that time instead of for each request.
   *
   * An admission moves the instant: one through this process drops the key's refusal under the same
   * number; one of several charges, under each number. After one through another process, or under
   * another number, the retry-after that is answered here is too short, until the refusal is
   * forgotten, and the remaining permits are those of the last call.
   *
   * A request for another number of permits than the refused one needs a call: fewer may fit, and
   * more may have to wait longer.
   */
  /** The most keys with a remembered refusal. */
  private static final int MOST_KEYS = 1 << 16;

  private final Clocks clocks;
  private final Counters counters;
  private final HeldKeys held;
  private final long mostNanos;
  private final Map<Long, Refusal> refusals = new ConcurrentHashMap<>();

  /** True once refusals would not be dropped any more. */
  private volatile boolean closed;

  private record Refusal(
      long permits, Result result, Clocks.Instant retryAt, Clocks.Instant forgottenAt) {}

  /**
   * Creates the refusals of a binding.
   *
   * @param held bounds the keys of all bindings
   * @param mostNanos the longest time that a refusal is remembered
   */
  Refusals(Clocks clocks, Counters counters, HeldKeys held, long mostNanos) {
    this.clocks = clocks;
    this.counters = counters;
    this.held = held;
    this.mostNanos = mostNanos;
  }

  /** Returns the refusal of that many permits, updated to now, or null if the store must decide. */
  @Nullable Result recall(long fingerprint, long permits) {
    Refusal known = refusals.isEmpty() ? null : refusals.get(fingerprint);
    if (known == null || known.permits != permits || clocks.reached(known.forgottenAt)) {
      return null;
    }
    Result result = known.result;
    boolean never = result.retryAfterNanos() == Decision.NEVER;
    long retry = never ? Decision.NEVER : clocks.until(known.retryAt);
    long passed = never ? 0 : result.retryAfterNanos() - retry;
    if (retry <= 0) {
      return null;
    }
    counters.held.increment();
    return new Result(
        Reason.OVER_LIMIT,
        result.remaining(),
        retry,
        Math.max(0, result.resetAfterNanos() - passed),
        result.atNanos());
  }

  /**
   * Remembers a refusal. After an admission it remembers nothing, as the key's next permits fit
   * later.
   *
   * @param askedAt a moment before the store decided
   */
  void add(long fingerprint, long permits, Result result, Clocks.Instant askedAt) {
    if (result.fits() && permits > 0) {
      remove(fingerprint);
      return;
    }
    boolean useful =
        result.reason() == Reason.OVER_LIMIT && permits > 0 && result.retryAfterNanos() > 0;
    if (!useful || (refusals.size() >= MOST_KEYS && !refusals.containsKey(fingerprint))) {
      return;
    }
    long retry = result.retryAfterNanos();
    Clocks.Instant forgottenAt = askedAt.plus(Math.min(retry, mostNanos));
    Clocks.Instant retryAt = retry == Decision.NEVER ? forgottenAt : askedAt.plus(retry);
    Refusal refusal = new Refusal(permits, result, retryAt, forgottenAt);
    Refusal unused =
        refusals.compute(
            fingerprint, (key, known) -> known != null || held.take() ? refusal : null);
    if (closed) {
      remove(fingerprint);
    }
  }

  private void remove(long fingerprint) {
    if (refusals.remove(fingerprint) != null) {
      held.giveBack();
    }
  }

  /** Drops the refusals of a key. */
  void forget(long fingerprint) {
    if (!refusals.isEmpty()) {
      remove(fingerprint);
    }
  }

  /** Drops refusals that are over. */
  void sweep() {
    refusals.forEach(
        (fingerprint, refusal) -> {
          if (clocks.reached(refusal.forgottenAt) && refusals.remove(fingerprint, refusal)) {
            held.giveBack();
          }
        });
  }

  boolean isEmpty() {
    return refusals.isEmpty();
  }

  /** Drops all refusals, and remembers none any more. */
  void close() {
    closed = true;
    refusals.keySet().forEach(this::remove);
  }
}
