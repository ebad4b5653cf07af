package dev.weir.jaxrs;

import dev.weir.http.RequestLimiter;
import dev.weir.identity.Source;
import jakarta.ws.rs.Priorities;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A feature that limits the requests of a JAX-RS application, with one limiter or several.
 * Immutable and safe for use by many threads.
 *
 * <pre>{@code
 * register(RateLimitFeature.builder()
 *     .beforeMatching(RequestLimiter.builder(engine).descriptor("ip={ip}").build())
 *     .afterMatching(RequestLimiter.builder(engine).descriptor("user={login}").build())
 *     .peer(request -> ...)
 *     .build());
 * }</pre>
 *
 * <p>A request filter of JAX-RS answers on the thread that calls it. So this thread waits while a
 * remote store has not answered or the request waits for its turn, each for a bounded time. Only a
 * bounded number of threads wait for turns; when there are no more, a request is refused at once.
 *
 * <p>A request that takes a seat of a limit at the same time ({@code concurrency}) gives it back
 * when the body of its response is written. JAX-RS does not report a client that leaves before;
 * then {@link RequestLimiter.Builder#longestSeat} gives it back.
 *
 * <p>JAX-RS does not provide the address of the connection. If a descriptor needs {@code {ip}},
 * {@link Builder#peer} has to provide it. In a servlet container, rather use weir-servlet's filter,
 * which sees the request below other filters.
 */
public final class RateLimitFeature implements Feature {
  /** The priority before the filters that authenticate, so that they are protected, too. */
  private static final int BEFORE_MATCHING = Priorities.AUTHENTICATION - 500;

  /** The priority after the filters that authenticate, before those that authorize. */
  private static final int AFTER_MATCHING = Priorities.AUTHENTICATION + 500;

  /** The last priority, so that the status is the one that is sent. */
  private static final int RESPONSE = 0;

  private final List<RequestLimiter> before;
  private final List<RequestLimiter> after;
  private final Patience patience;
  private final Function<? super ContainerRequestContext, @Nullable String> peer;
  private final @Nullable Function<? super ContainerRequestContext, @Nullable String> route;

  private RateLimitFeature(Builder builder) {
    before = List.copyOf(builder.before);
    after = List.copyOf(builder.after);
    patience = new Patience(builder.maxDecision, builder.maxWaiting);
    Function<? super ContainerRequestContext, @Nullable String> given = builder.peer;
    peer = given == null ? request -> null : given;
    route = builder.route;
  }

  /** Returns a builder of a feature without a limiter. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Counts a request, whatever its status will be, in all limits that count by such calls ({@link
   * RequestLimiter.Builder#refundUnlessCounted}). To be called while the request is handled;
   * without effect if no such limit has seen it. A resource gets the request by {@code @Context}.
   */
  public static void count(ContainerRequestContext request) {
    Limits.count(request);
  }

  /**
   * Charges what a request did cost to all limits that take reports ({@link
   * RequestLimiter.Builder#costsReported}), whatever is left: as often as there are costs, also
   * while the body of the response is written. Each call adds. Without effect if no such limit has
   * passed it.
   *
   * @param permits in the range of {@link dev.weir.http.Verdict#charge}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public static void charge(ContainerRequestContext request, long permits) {
    Limits.charge(request, permits);
  }

  /** The settings of a feature to be built. Not safe for use by several threads. */
  public static final class Builder {
    private final List<RequestLimiter> before = new ArrayList<>();
    private final List<RequestLimiter> after = new ArrayList<>();
    private @Nullable Function<? super ContainerRequestContext, @Nullable String> peer;
    private @Nullable Function<? super ContainerRequestContext, @Nullable String> route;
    private Duration maxDecision = Duration.ofSeconds(5);
    private int maxWaiting = 20;

    private Builder() {}

    /**
     * Adds a limiter for all requests, also for those that no resource matches, before the user is
     * known.
     */
    public Builder beforeMatching(RequestLimiter limiter) {
      before.add(limiter);
      return this;
    }

    /**
     * Adds a limiter for requests that a resource matches, when {@code {route}} and {@code {login}}
     * are known.
     */
    public Builder afterMatching(RequestLimiter limiter) {
      after.add(limiter);
      return this;
    }

    /**
     * Sets the source of the address of the connection's other end, not of an address in a header:
     * for that, see {@link RequestLimiter.Builder#address}.
     *
     * @param address returns for example {@code 10.0.0.1}, null if it is unknown
     */
    public Builder peer(Function<? super ContainerRequestContext, @Nullable String> address) {
      peer = address;
      return this;
    }

    /**
     * Sets the source of the pattern that a request has matched. Default: the paths of the class
     * and of the method that JAX-RS has chosen; unknown for resources that another resource has
     * located.
     *
     * @param pattern returns for example {@code /users/{id}}, null if it is unknown
     */
    public Builder route(Function<? super ContainerRequestContext, @Nullable String> pattern) {
      route = pattern;
      return this;
    }

    /**
     * Sets the longest that a thread waits for a remote store, which has a timeout of its own,
     * before it answers 503. Default: 5 seconds.
     */
    public Builder maxDecision(Duration longest) {
      maxDecision = longest;
      return this;
    }

    /**
     * Sets the most threads that may wait at a time for turns of requests, if the rules have a
     * queue; 0 for none. Default: 20.
     */
    public Builder maxWaiting(int threads) {
      maxWaiting = threads;
      return this;
    }

    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException with all problems, a line each
     */
    public RateLimitFeature build() {
      List<String> problems = new ArrayList<>();
      if (before.isEmpty() && after.isEmpty()) {
        problems.add("limiter: none (expected: at least one, before or after matching)");
      }
      for (RequestLimiter limiter : before) {
        if (limiter.uses(Source.ROUTE)) {
          problems.add("descriptor: {route} before matching (expected: after matching)");
        }
      }
      if (peer == null && uses(Source.IP)) {
        problems.add(
            "descriptor: {ip} (expected: peer(...) with it, as JAX-RS does not tell the address"
                + " of a connection)");
      }
      if (maxDecision.isNegative() || maxDecision.isZero()) {
        problems.add("maxDecision: " + maxDecision + " (expected: more than 0)");
      }
      if (maxWaiting < 0) {
        problems.add("maxWaiting: " + maxWaiting + " (expected: at least 0)");
      }
      if (!problems.isEmpty()) {
        throw new IllegalArgumentException(String.join("\n", problems));
      }
      return new RateLimitFeature(this);
    }

    private boolean uses(Source source) {
      return before.stream().anyMatch(limiter -> limiter.uses(source))
          || after.stream().anyMatch(limiter -> limiter.uses(source));
    }
  }

  @Override
  public boolean configure(FeatureContext context) {
    if (!before.isEmpty()) {
      context.register(
          new BeforeMatchingFilter(new Limits(before, patience), peer), BEFORE_MATCHING);
    }
    if (!after.isEmpty()) {
      context.register(
          new AfterMatchingFilter(new Limits(after, patience), peer, route), AFTER_MATCHING);
    }
    context.register(new AnsweredFilter(), RESPONSE);
    context.register(new WrittenInterceptor(), RESPONSE); // Around all others.
    return true;
  }
}
