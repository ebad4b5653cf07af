package dev.weir.http;

import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.engine.seats.RequestSeat;
import dev.weir.engine.seats.RequestSeats;
import org.jspecify.annotations.Nullable;

/**
 * The place of a request under an adaptive limit, or the refusal of one. Safe for use by many
 * threads.
 */
final class AdaptivePlace {
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SERVER_ERROR = 500;
  private static final int SERVICE_UNAVAILABLE = 503;
  private static final int GATEWAY_TIMEOUT = 504;

  private final AdaptivePermit permit;
  private final @Nullable RequestSeat held;

  private AdaptivePlace(AdaptivePermit permit, @Nullable RequestSeat held) {
    this.permit = permit;
    this.held = held;
  }

  /**
   * Takes a place, which is given back after the longest time of the seats if it is not before.
   *
   * @param name the name of the request in the log
   */
  static AdaptivePlace take(AdaptiveLimiter limiter, RequestSeats seats, String name) {
    AdaptivePermit permit = limiter.tryAcquire();
    return new AdaptivePlace(permit, permit.granted() ? seats.hold(permit, name) : null);
  }

  boolean granted() {
    return held != null;
  }

  /** Measures the latency from now on: the rules have been decided, perhaps over a network. */
  void begin() {
    permit.restart();
  }

  /** Learns the latency to the head of the response, which is now. */
  void responded(int status) {
    boolean unused = permit.record(outcome(status));
  }

  /**
   * Returns the outcome of a request by its status. A failure in the handler is none that less load
   * would avoid, and is mostly faster or slower than an answer.
   */
  private static RequestOutcome outcome(int status) {
    if (status == SERVICE_UNAVAILABLE || status == GATEWAY_TIMEOUT) {
      return RequestOutcome.DROPPED;
    }
    return status == TOO_MANY_REQUESTS || status >= SERVER_ERROR
        ? RequestOutcome.IGNORED
        : RequestOutcome.SUCCEEDED;
  }

  boolean hasEnded() {
    return held == null || held.hasEnded();
  }

  /** Gives the place back, once. */
  void end() {
    if (held != null) {
      held.end();
    }
  }
}
