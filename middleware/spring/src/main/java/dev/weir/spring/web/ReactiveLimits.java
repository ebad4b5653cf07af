package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.Client;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.RequestView;
import dev.weir.identity.Source;
import java.security.Principal;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The limits for requests of Spring WebFlux: in the filters of {@code weir.filters}, and in other
 * libraries that use the same settings and answers, such as in the routes of a gateway. A bean of
 * {@link ReactiveLimitAutoConfiguration}. Blocks no thread, and is safe for use by many.
 */
public final class ReactiveLimits {
  /**
   * The name of a bean that marks that requests are limited elsewhere, such as in routes. Then no
   * filter is made for all paths if the properties have none.
   */
  public static final String ELSEWHERE = "weirLimitsElsewhere";

  private static final String PASSED = ReactiveLimits.class.getName() + ".passed";

  /** The verdicts of the limiters that take reports and passed a request, the last one first. */
  private record PassedVerdict(Verdict verdict, @Nullable PassedVerdict before) {}

  private final Limiters limiters;
  private final ReactiveTrust trust;
  private final ReactiveRefusals refusals;
  private final ClientAddress addresses;

  ReactiveLimits(
      Limiters limiters, ReactiveTrust trust, ReactiveRefusals refusals, ClientAddress addresses) {
    this.limiters = limiters;
    this.trust = trust;
    this.refusals = refusals;
    this.addresses = addresses;
  }

  /** Returns whether requests are limited at all: {@code weir.enabled}. */
  public boolean enabled() {
    return limiters.enabled();
  }

  /**
   * Returns a builder with the settings that all limiters of the application share, by its
   * properties.
   */
  public RequestLimiter.Builder builder() {
    return limiters.builder();
  }

  /**
   * Checks that clients cannot choose the address under which the limiter counts them.
   *
   * @throws IllegalStateException if the server takes addresses from headers that clients write
   */
  public void check(RequestLimiter limiter) {
    trust.check(limiter);
  }

  /** Returns the client of a request, by {@code weir.client-address}. */
  public Client client(ServerWebExchange exchange) {
    return addresses.of(new ExchangeView(exchange, null, null));
  }

  /**
   * Decides a request at each subscription. A refused request that may wait is queued before there
   * is a verdict; if it is cancelled before, its charge is given back. A caller who serves an
   * admitted request reports its end by {@link Verdict#ended}, or by {@link #hold}.
   */
  public Mono<Verdict> decide(RequestLimiter limiter, RequestView view) {
    return Mono.deferContextual(
        context -> {
          SeatEnds ends = SeatEnds.of(context);
          if (ends != null) {
            ends.again(limiter);
          }
          PendingVerdict pending = new PendingVerdict();
          return pending
              .decide(limiter, view)
              .flatMap(
                  verdict ->
                      verdict.passes() || verdict.maxWaitNanos() <= 0
                          ? Mono.just(verdict)
                          : pending.queue(verdict))
              .filter(verdict -> pending.claim())
              .doOnCancel(pending::giveUp);
        });
  }

  /**
   * Decides a request at each subscription, then serves or answers it. Without {@code weir.enabled}
   * it is served.
   *
   * @param route the value of {@code {route}}; null before a handler is found
   * @param next serves the request
   */
  public Mono<Void> limit(
      RequestLimiter limiter,
      ServerWebExchange exchange,
      @Nullable String route,
      Supplier<Mono<Void>> next) {
    if (!enabled()) {
      return next.get();
    }
    return login(limiter, exchange)
        .flatMap(login -> decide(limiter, new ExchangeView(exchange, login.orElse(null), route)))
        .flatMap(verdict -> proceed(limiter, exchange, route, verdict, next));
  }

  /**
   * Returns a chain whose end gives back the seats that limits inside of it take by {@link #limit}
   * or {@link #hold}: for libraries whose chain at the place of the limit is complete before the
   * request is. Whatever the end is: the response is complete, an error, or the client has gone.
   */
  public static Mono<Void> untilEnd(Mono<Void> chain) {
    return Mono.defer(
        () -> {
          SeatEnds ends = new SeatEnds();
          return chain.doFinally(end -> ends.end()).contextWrite(ends::in);
        });
  }

  /**
   * Returns the verdict, whose seats are held until the end of the request inside of {@link
   * #untilEnd}. Elsewhere they are given back at once.
   */
  public static Mono<Verdict> hold(RequestLimiter limiter, Verdict verdict) {
    if (!verdict.holdsSeat()) {
      return Mono.just(verdict);
    }
    return Mono.deferContextual(
        context -> {
          SeatEnds ends = SeatEnds.of(context);
          if (ends == null) {
            verdict.ended();
          } else {
            ends.add(limiter, verdict);
          }
          return Mono.just(verdict);
        });
  }

  /**
   * Charges what a request did cost to all limits that take reports ({@link
   * RequestLimiter.Builder#costsReported}), whatever is left: as often as there are costs, also
   * after the response has ended. Each call adds. Without effect if no such limit has passed it.
   *
   * @param permits in the range of {@link dev.weir.http.Verdict#charge}
   * @throws IllegalArgumentException if the number is out of this range
   */
  public static void charge(ServerWebExchange exchange, long permits) {
    PassedVerdict last = exchange.getAttribute(PASSED);
    for (PassedVerdict each = last; each != null; each = each.before) {
      each.verdict.charge(permits);
    }
  }

  private static Mono<Optional<String>> login(RequestLimiter limiter, ServerWebExchange exchange) {
    if (!limiter.uses(Source.LOGIN)) {
      return Mono.just(Optional.empty());
    }
    return exchange
        .<Principal>getPrincipal()
        .filter(KnownUsers::isKnown)
        .map(user -> Optional.of(user.getName()))
        .defaultIfEmpty(Optional.empty());
  }

  private Mono<Void> proceed(
      RequestLimiter limiter,
      ServerWebExchange exchange,
      @Nullable String route,
      Verdict verdict,
      Supplier<Mono<Void>> next) {
    if (!verdict.passes()) {
      // With a handler, the look-up has applied the settings for other origins.
      return route == null
          ? refusals.refuseEarly(exchange, verdict)
          : refusals.refuse(exchange, verdict);
    }
    if (verdict.takesReports()) {
      exchange
          .getAttributes()
          .put(PASSED, new PassedVerdict(verdict, exchange.getAttribute(PASSED)));
    }
    ServerHttpResponse response = exchange.getResponse();
    // An error handler may run after this filter has ended, and may set fields anew.
    response.beforeCommit(
        () -> {
          verdict.fields(response.getHeaders()::add);
          HttpStatusCode status = response.getStatusCode();
          verdict.responded(
              status == null ? 200 : status.value(),
              response.getHeaders().getFirst(HttpHeaders.LOCATION));
          return Mono.empty();
        });
    return verdict.holdsSeat() ? serve(limiter, verdict, next) : next.get();
  }

  /** Serves a request with seats, which are given back when it has ended. */
  private static Mono<Void> serve(
      RequestLimiter limiter, Verdict verdict, Supplier<Mono<Void>> next) {
    return Mono.deferContextual(
        context -> {
          SeatEnds ends = SeatEnds.of(context);
          if (ends == null) {
            return Mono.defer(next).doFinally(end -> verdict.ended());
          }
          ends.add(limiter, verdict);
          return next.get();
        });
  }

  /** Returns an exception that leads to the same answer as the refusal. */
  public static RuntimeException exception(Verdict refusal) {
    return RefusalExceptions.of(refusal);
  }
}
