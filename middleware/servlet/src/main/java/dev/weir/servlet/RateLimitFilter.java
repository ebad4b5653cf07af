package dev.weir.servlet;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A filter that limits requests: a request beyond the limit is answered with 429, one that cannot
 * be decided with 503, and both without calling the rest of the chain. Others go on, with header
 * fields that show the client's standing. Safe for use by many threads.
 *
 * <pre>{@code
 * RequestLimiter limiter = RequestLimiter.builder(engine).domain("shop").build();
 * FilterRegistration.Dynamic limit =
 *     context.addFilter("limit", RateLimitFilter.of(limiter));
 * limit.setAsyncSupported(true);
 * limit.addMappingForUrlPatterns(null, false, "/*");
 * }</pre>
 *
 * <p>A request is counted once, however often it is dispatched, also if the filter is registered
 * twice. Several filters with limiters of their own count each for itself; each adds its members to
 * the header fields. A filter before authentication has no login.
 *
 * <p>A request that takes a seat of a limit at the same time ({@code concurrency}) gives it back
 * when the chain has returned, or when its asynchronous part is complete or has failed. Most
 * containers do not report a client that leaves an asynchronous request without a timeout; then
 * {@link RequestLimiter.Builder#longestSeat} gives it back.
 *
 * <p>The address is that of the connection, whatever filters have wrapped around the request; only
 * the address that Tomcat's {@code RemoteIpValve} or {@code RemoteIpFilter} has found is taken from
 * it. The filter waits for a store that answers over a network, for the time of the store's own
 * settings.
 */
public final class RateLimitFilter implements Filter {
  private final RequestLimiter limiter;
  private final Function<? super HttpServletRequest, @Nullable String> login;
  private final RefusalHandler refusals;
  private final @Nullable WaitingFilter waiting;

  private RateLimitFilter(Builder builder) {
    limiter = builder.limiter;
    login = builder.login;
    refusals = builder.refusals;
    waiting = builder.waiting;
  }

  /** Returns a filter that refuses at once every request that the limiter refuses. */
  public static RateLimitFilter of(RequestLimiter limiter) {
    return builder(limiter).build();
  }

  /** Returns a builder. */
  public static Builder builder(RequestLimiter limiter) {
    return new Builder(limiter);
  }

  /** The settings of a filter to be built. Not safe for use by several threads. */
  public static final class Builder {
    private final RequestLimiter limiter;
    private Function<? super HttpServletRequest, @Nullable String> login =
        RateLimitFilter::userName;
    private RefusalHandler refusals = RefusalHandler.standard();
    private @Nullable WaitingFilter waiting;

    private Builder(RequestLimiter limiter) {
      this.limiter = limiter;
    }

    /**
     * Sets the function that finds the login; it returns null for requests without one, also for
     * anonymous ones that have a name. Default: the name of {@link
     * HttpServletRequest#getUserPrincipal()}.
     */
    public Builder login(Function<? super HttpServletRequest, @Nullable String> name) {
      login = name;
      return this;
    }

    /** Sets the handler that answers refusals. Default: {@link RefusalHandler#standard()}. */
    public Builder refusals(RefusalHandler handler) {
      refusals = handler;
      return this;
    }

    /**
     * Sets the filter in which requests wait, if the rules have {@code on_limit: {queue: ...}}. It
     * must be registered in the same application, as the last filter, for at least the requests
     * that this one is registered for: it holds the requests that wait. Default: none, and then all
     * requests beyond the limit are refused at once. They are also refused at once until the
     * container has initialised it, and if the limiter counts by status or takes reports.
     *
     * <p>The filters between the two see more requests than the limit allows: a limit with waiting
     * requests does not protect authentication.
     */
    public Builder waiting(WaitingFilter filter) {
      waiting = filter;
      return this;
    }

    /** Returns the filter. */
    public RateLimitFilter build() {
      return new RateLimitFilter(this);
    }
  }

  /**
   * Counts a request, whatever its status will be, in all limits that count by such calls ({@link
   * RequestLimiter.Builder#refundUnlessCounted}): for an application that finds out in its own way
   * that, for example, a password was wrong. To be called while the request is handled; without
   * effect if no such limit has seen it.
   */
  public static void count(ServletRequest request) {
    RequestState.count(request);
  }

  /**
   * Charges what a request did cost to all limits that take reports ({@link
   * RequestLimiter.Builder#costsReported}), whatever is left. To be called while the request is
   * handled, as often as there are costs: each call adds. Without effect if no such limit has
   * passed it.
   *
   * @param permits in the range of {@link dev.weir.http.Verdict#charge}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public static void charge(ServletRequest request, long permits) {
    RequestState.charge(request, permits);
  }

  private static @Nullable String userName(HttpServletRequest request) {
    Principal user = request.getUserPrincipal();
    return user == null ? null : user.getName();
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (request.getDispatcherType() == DispatcherType.REQUEST
        && request instanceof HttpServletRequest httpRequest
        && response instanceof HttpServletResponse httpResponse) {
      RequestState state = RequestState.of(request);
      if (state.enter(this)) {
        limit(state, httpRequest, httpResponse, chain);
        return;
      }
    }
    chain.doFilter(request, response);
  }

  private void limit(
      RequestState state,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    Verdict verdict = decide(new ServletRequestView(request, login));
    if (mayWait(verdict)) {
      WaitingRequest.Turn turn = WaitingRequest.Turn.join(verdict, refusals);
      Verdict known = turn.known();
      if (known == null) {
        wait(state, turn, request, response, chain);
        return;
      }
      verdict = known;
    }
    if (!verdict.passes()) {
      refusals.refuse(request, response, verdict);
      return;
    }
    WaitingRequest others = state.waiting();
    if (others != null) {
      others.addCharged(verdict);
    }
    verdict.fields(response::addHeader);
    if (verdict.awaitsStatus() || verdict.takesReports()) {
      state.add(verdict);
    }
    if (verdict.holdsSeat()) {
      RequestEnd end = new RequestEnd(verdict::ended);
      try {
        // Its listener comes behind that for the status, which is learnt before the end.
        pass(
            verdict,
            request,
            response,
            (served, answer) -> chain.doFilter(end.watch((HttpServletRequest) served), answer));
      } finally {
        end.returned(request);
      }
    } else {
      pass(verdict, request, response, chain);
    }
  }

  private static void pass(
      Verdict verdict, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    if (verdict.awaitsStatus()) {
      settle(verdict, request, response, chain);
    } else {
      chain.doFilter(request, response);
    }
  }

  /**
   * Returns whether a refused request may wait. A limit that counts by status, such as that of
   * failed logins, refuses at once: authentication would answer a waiting request, uncounted,
   * before its turn comes. So does one that takes reports, which would come before it, too.
   */
  private boolean mayWait(Verdict verdict) {
    return !verdict.passes()
        && waiting != null
        && waiting.isInitialised()
        && verdict.maxWaitNanos() > 0
        && !verdict.awaitsStatus()
        && !verdict.takesReports();
  }

  /** Returns the limiter's verdict; waits for it if it comes over a network. */
  private Verdict decide(ServletRequestView view) {
    CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    limiter.decide(view, verdict::complete);
    return verdict.join();
  }

  /** Calls the chain as far as the waiting filter, which holds the request. */
  private static void wait(
      RequestState state,
      WaitingRequest.Turn turn,
      HttpServletRequest request,
      HttpServletResponse response,
      FilterChain chain)
      throws IOException, ServletException {
    WaitingRequest others = state.waiting();
    WaitingRequest all = others == null ? new WaitingRequest() : others;
    all.add(turn);
    state.waiting(all);
    try {
      chain.doFilter(request, response);
    } finally {
      if (others == null) {
        all.unwound();
      }
    }
  }

  /** Calls the chain, and records the status with which the request was answered in the end. */
  private static void settle(
      Verdict verdict, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    Settlement settlement = new Settlement(response, verdict);
    boolean thrown = true;
    try {
      chain.doFilter(settlement.watch(request), settlement.watch(response));
      thrown = false;
    } finally {
      settlement.returned(request, thrown);
    }
  }
}
