package dev.weir.armeria;

import com.linecorp.armeria.common.ExchangeType;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.server.HttpService;
import com.linecorp.armeria.server.RoutingContext;
import com.linecorp.armeria.server.ServiceRequestContext;
import com.linecorp.armeria.server.SimpleDecoratingHttpService;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.Source;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A decorator that limits the requests to a service, or to all services of a server. Safe for use
 * by many threads.
 *
 * <pre>{@code
 * Server.builder().service("/users/{id}", service)
 *     .decorator(RateLimitService.newDecorator(limiter));
 * }</pre>
 *
 * <p>No event loop is blocked: while a remote store has not answered, or the request waits for its
 * turn, the response is deferred. Up to 2 MiB of the body are read meanwhile, since a client that
 * goes away is noticed only behind them. Waiting counts towards Armeria's request timeout, which
 * ends it.
 *
 * <p>A request that takes a seat of a limit at the same time ({@code concurrency}) gives it back
 * when its log is complete: the response is sent, has failed, or its client has gone.
 *
 * <p>It takes the address of the connection itself, not Armeria's {@code clientAddress}, which by
 * default trusts the headers of any client; proxies are trusted by {@link
 * RequestLimiter.Builder#address}. {@code {route}} is the pattern of the service's route. Clients
 * of gRPC do not read such answers; their servers have interceptors.
 */
public final class RateLimitService extends SimpleDecoratingHttpService {
  private final RequestLimiter limiter;
  private final Function<? super ServiceRequestContext, @Nullable String> login;

  private RateLimitService(
      HttpService service,
      RequestLimiter limiter,
      Function<? super ServiceRequestContext, @Nullable String> login) {
    super(service);
    this.limiter = limiter;
    this.login = login;
  }

  /**
   * Returns a decorator that passes the requests that the limiter admits, and answers all others.
   *
   * @throws IllegalArgumentException if a descriptor needs {@code {login}}, which Armeria does not
   *     provide
   */
  public static Function<? super HttpService, RateLimitService> newDecorator(
      RequestLimiter limiter) {
    if (limiter.uses(Source.LOGIN)) {
      throw new IllegalArgumentException(
          "descriptor: {login} (expected: a function beside the limiter that returns the"
              + " authenticated user, as Armeria does not know one)");
    }
    return service -> new RateLimitService(service, limiter, context -> null);
  }

  /**
   * Returns a decorator for descriptors with {@code {login}}. See {@link
   * #newDecorator(RequestLimiter)}.
   *
   * @param login returns the name of the authenticated user, null if there is none, for example
   *     from an attribute that a decorator outside of this one has set
   */
  public static Function<? super HttpService, RateLimitService> newDecorator(
      RequestLimiter limiter, Function<? super ServiceRequestContext, @Nullable String> login) {
    return service -> new RateLimitService(service, limiter, login);
  }

  /**
   * Counts a request, whatever its status will be, in all limits that count by such calls ({@link
   * RequestLimiter.Builder#refundUnlessCounted}): for a service that finds out in its own way that,
   * for example, a password was wrong. To be called before the head of the response is sent;
   * without effect if no such limit has seen the request.
   */
  public static void count(ServiceRequestContext context) {
    LimitedRequest.count(context);
  }

  /**
   * Charges what a request did cost to all limits that take reports ({@link
   * RequestLimiter.Builder#costsReported}), whatever is left: as often as there are costs, also
   * after the response has ended. Each call adds. Without effect if no such limit has passed it.
   *
   * @param permits in the range of {@link dev.weir.http.Verdict#charge}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public static void charge(ServiceRequestContext context, long permits) {
    LimitedRequest.charge(context, permits);
  }

  /**
   * Returns an exchange type with which no body is read before the request is decided, whatever the
   * service's own type.
   */
  @Override
  public ExchangeType exchangeType(RoutingContext routing) {
    return super.exchangeType(routing).isResponseStreaming()
        ? ExchangeType.BIDI_STREAMING
        : ExchangeType.REQUEST_STREAMING;
  }

  @Override
  public HttpResponse serve(ServiceRequestContext context, HttpRequest request) throws Exception {
    ServedRequest view = new ServedRequest(context, request, login);
    return new LimitedRequest(limiter, context, request, (HttpService) unwrap()).serve(view);
  }
}
