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
 * Limits requests: a request beyond the limit is answered with 429, one that cannot be decided with
 * 503, and both without calling the rest of the chain. Others go on, with header fields that tell
 * where the client stands. Safe for use by many threads.
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
 * the header fields. A filter that stands before authentication knows no login.
 *
 * <p>The address is that of the connection, whatever filters have wrapped around the request; only
 * what Tomcat's {@code RemoteIpValve} or {@code RemoteIpFilter} has found is taken from it. A store
 * that answers over a network is waited for, as long as it has time by its own settings.
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

  /** Returns a filter that refuses at once what the limiter refuses. */
  public static RateLimitFilter of(RequestLimiter limiter) {
    return builder(limiter).build();
  }

  /** Returns a builder. */
  public static Builder builder(RequestLimiter limiter) {
    return new Builder(limiter);
  }

  /** Collects the settings. Not safe for use by several threads. */
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
     * Sets how the login is found: null for requests without, also for anonymous ones that have a
     * name. Default: the name of {@link HttpServletRequest#getUserPrincipal()}.
     */
    public Builder login(Function<? super HttpServletRequest, @Nullable String> name) {
      login = name;
      return this;
    }

    /** Sets how refusals are answered. Default: {@link RefusalHandler#standard()}. */
    public Builder refusals(RefusalHandler handler) {
      refusals = handler;
      return this;
    }

    /**
     * Has requests wait in this filter, where the rules say {@code on_limit: {queue: ...}}. It must
     * be registered in the same application, as the last filter, for at least the requests that
     * this one is registered for: it is what holds them. Default: none, and then all requests
     * beyond the limit are refused at once; as they are until the container has initialised it, and
     * where the limiter counts by status.
     *
     * <p>The filters between the two see more requests than the limit says: authentication is not
     * protected by a limit that has requests wait.
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
    if (verdict.awaitsStatus()) {
      settle(verdict, request, response, chain);
    } else {
      chain.doFilter(request, response);
    }
  }

  /**
   * A limit that counts by status, such as that of failed logins, refuses at once: a request that
   * waits would be answered by authentication, uncounted, before its turn comes.
   */
  private boolean mayWait(Verdict verdict) {
    return !verdict.passes()
        && waiting != null
        && waiting.isInitialised()
        && verdict.maxWaitNanos() > 0
        && !verdict.awaitsStatus();
  }

  /** Asks the limiter, and waits for its answer if that comes over a network. */
  private Verdict decide(ServletRequestView view) {
    CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    limiter.decide(view, verdict::complete);
    return verdict.join();
  }

  /** Lets the chain go on as far as the waiting filter, which holds the request. */
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

  /** Calls the chain, and says with which status the request was answered in the end. */
  private static void settle(
      Verdict verdict, HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    Settlement settlement = new Settlement(response, verdict::responded);
    boolean thrown = true;
    try {
      chain.doFilter(settlement.watch(request), response);
      thrown = false;
    } finally {
      settlement.returned(request, thrown);
    }
  }
}
