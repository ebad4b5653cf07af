package dev.weir.servlet;

import dev.weir.http.Verdict;
import jakarta.servlet.ServletRequest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of one request in the filters, as an attribute of it. Used by one thread after the
 * other.
 */
final class RequestState {
  private static final String ATTRIBUTE = "dev.weir.servlet.RequestState";

  private final List<RateLimitFilter> filters = new ArrayList<>(2);
  private final List<Verdict> passed = new ArrayList<>(1);
  private @Nullable WaitingRequest waiting;

  private RequestState() {}

  static RequestState of(ServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof RequestState state) {
      return state;
    }
    RequestState state = new RequestState();
    request.setAttribute(ATTRIBUTE, state);
    return state;
  }

  /** Returns the waiting part of the request; null if nothing waits. */
  static @Nullable WaitingRequest waitingOf(ServletRequest request) {
    return request.getAttribute(ATTRIBUTE) instanceof RequestState state ? state.waiting : null;
  }

  /** Counts the request in all limits that count by such calls. */
  static void count(ServletRequest request) {
    if (request.getAttribute(ATTRIBUTE) instanceof RequestState state) {
      state.passed.forEach(Verdict::count);
    }
  }

  /** Charges costs to all limits that take reports. */
  static void charge(ServletRequest request, long permits) {
    if (request.getAttribute(ATTRIBUTE) instanceof RequestState state) {
      state.passed.forEach(verdict -> verdict.charge(permits));
    }
  }

  /** Adds a verdict that the application may still change by a call. */
  void add(Verdict verdict) {
    passed.add(verdict);
  }

  /** Returns whether this filter sees the request for the first time. */
  boolean enter(RateLimitFilter filter) {
    return !filters.contains(filter) && filters.add(filter);
  }

  @Nullable WaitingRequest waiting() {
    return waiting;
  }

  void waiting(WaitingRequest request) {
    waiting = request;
  }
}
