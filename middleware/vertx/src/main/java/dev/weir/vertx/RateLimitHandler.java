package dev.weir.vertx;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A handler that limits the requests of its routes. Safe for use by many threads; one instance
 * serves any number of routes and event loops.
 *
 * <pre>{@code
 * router.route().handler(RateLimitHandler.of(limiter));
 * }</pre>
 *
 * <p>No event loop is blocked: while a remote store has not answered, or the request waits for its
 * turn, the request is paused, and goes on in its own context. Over HTTP/1 up to 2 MiB of its body
 * are read meanwhile, since a client that goes away is noticed only behind them. A request that
 * meets the same instance again, on another route or because it was rerouted, is not counted again.
 *
 * <p>A request that takes a seat of a limit at the same time ({@code concurrency}) gives it back
 * when its response is complete, or its connection is closed. Vert.x does not notice a client that
 * leaves while its body is unread and the request is paused; then {@link
 * RequestLimiter.Builder#longestSeat} gives it back.
 *
 * <p>It takes the address of the connection itself, whatever the setting {@code
 * Router.allowForward}; proxies are trusted by {@link RequestLimiter.Builder#address}. {@code
 * {login}} is the subject of {@code RoutingContext.user()}, so it is known only after an
 * authentication handler; {@code {route}} is the path of the handler's route. Vert.x orders the
 * handlers of one route by their kind. So give this one a route of its own, before those of the
 * body handler.
 */
public final class RateLimitHandler implements Handler<RoutingContext> {
  private static final AtomicLong NUMBERS = new AtomicLong();

  private final RequestLimiter limiter;

  /** The key under which a request keeps its decision. */
  private final String key = "dev.weir.vertx." + NUMBERS.incrementAndGet();

  private RateLimitHandler(RequestLimiter limiter) {
    this.limiter = limiter;
  }

  /** Returns a handler that passes the requests that the limiter admits, and answers all others. */
  public static RateLimitHandler of(RequestLimiter limiter) {
    return new RateLimitHandler(limiter);
  }

  /**
   * Counts a request, whatever its status will be, in all limits that count by such calls ({@link
   * RequestLimiter.Builder#refundUnlessCounted}): for an application that finds out in its own way
   * that, for example, a password was wrong. To be called before the head of the response is sent;
   * without effect if no such limit has seen the request.
   */
  public static void count(RoutingContext routing) {
    for (Object value : routing.data().values()) {
      if (value instanceof Verdict verdict) {
        verdict.count();
      }
    }
  }

  /**
   * Charges what a request did cost to all limits that take reports ({@link
   * RequestLimiter.Builder#costsReported}), whatever is left: as often as there are costs, also
   * after the response has ended. Each call adds. Without effect if no such limit has passed it.
   *
   * @param permits in the range of {@link dev.weir.http.Verdict#charge}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public static void charge(RoutingContext routing, long permits) {
    for (Object value : routing.data().values()) {
      if (value instanceof Verdict verdict) {
        verdict.charge(permits);
      }
    }
  }

  @Override
  public void handle(RoutingContext routing) {
    Verdict before = routing.get(key);
    if (before == null) {
      new LimitedRequest(limiter, routing, key).begin();
      return;
    }
    MultiMap headers = routing.response().headers(); // They are empty again if it was rerouted.
    before.fields(
        (name, value) -> {
          if (!headers.contains(name, value, false)) {
            headers.add(name, value);
          }
        });
    routing.next();
  }
}
