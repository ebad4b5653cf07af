package dev.weir.spring.gateway;

import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirPropertiesException;
import dev.weir.spring.web.ReactiveLimits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.event.FilterArgsEvent;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import reactor.core.publisher.Mono;

/**
 * The limiter of the gateway's own filter {@code RequestRateLimiter}, which decides by the rules of
 * Weir. A request is counted under the descriptor {@code route=ROUTE,key=KEY}: the route's id, and
 * the key from the filter's {@code KeyResolver}.
 *
 * <pre>{@code
 * filters:
 *   - name: RequestRateLimiter
 *     args: {weir-rate-limiter.domain: shop, weir-rate-limiter.permits: 2}
 * }</pre>
 *
 * <p>That filter answers a refused request with its own status, 429 unless another one is set, the
 * fields of Weir and no body. A request that cannot be decided is an error with status 503. Safe
 * for use by many threads.
 */
public final class WeirRateLimiter extends AbstractRateLimiter<WeirRateLimiter.Config> {
  /** The beginning of the names of a route's arguments. */
  public static final String PROPERTY = "weir-rate-limiter";

  private static final int REFUSED = 429;

  /** The key of the limiter for the domain of the application. */
  private static final String OWN_DOMAIN = "";

  private final ReactiveLimits limits;
  private final Config unset = new Config();

  /** The settings by route. */
  private final Map<String, Config> configs = new ConcurrentHashMap<>();

  /** The limiters by domain, as many as routes name. */
  private final Map<String, RequestLimiter> limiters = new ConcurrentHashMap<>();

  /** Makes a limiter; {@code service} reads the routes' settings. */
  public WeirRateLimiter(ReactiveLimits limits, ConfigurationService service) {
    super(Config.class, PROPERTY, service);
    this.limits = limits;
  }

  /** The settings of a route. Set before its first request, by one thread. */
  public static final class Config {
    private @Nullable String domain;
    private long permits = 1;

    /** Returns the domain of the rules; null for {@code weir.domain}. */
    public @Nullable String getDomain() {
      return domain;
    }

    /** Sets the domain of the rules, 1 to 1,024 characters. Default: {@code weir.domain}. */
    public void setDomain(@Nullable String domain) {
      this.domain = domain;
    }

    /** Returns the permits of a request. */
    public long getPermits() {
      return permits;
    }

    /** Sets the permits of a request, at least 0. Default: 1. */
    public void setPermits(long permits) {
      this.permits = permits;
    }

    /** Returns all problems, with names made of those of the fields. */
    List<PropertyProblem> problems(UnaryOperator<String> name) {
      List<PropertyProblem> problems = new ArrayList<>();
      RouteValues.domain(domain, name, problems);
      RouteValues.permits(permits, name, problems);
      return problems;
    }
  }

  /**
   * A request in the form that the limiter reads. The key is in the place of a login: both identify
   * the owner of the request, and another part has found it before.
   */
  private record KeyedRequest(String route, String login, long permits) implements RequestView {
    @Override
    public @Nullable String peer() {
      return null;
    }

    @Override
    public List<String> headers(String name) {
      return List.of();
    }

    @Override
    public String method() {
      return "";
    }

    @Override
    public String path() {
      return "/";
    }
  }

  @Override
  public Map<String, Config> getConfig() {
    return configs;
  }

  /**
   * Sets the settings of a route.
   *
   * @throws WeirPropertiesException if they are wrong; the route's earlier settings stay
   */
  @Override
  public void onApplicationEvent(FilterArgsEvent event) {
    String route = event.getRouteId();
    Config before = configs.get(route);
    super.onApplicationEvent(event);
    List<PropertyProblem> problems =
        configs
            .getOrDefault(route, unset)
            .problems(field -> "route " + route + ": " + PROPERTY + "." + field);
    if (!problems.isEmpty()) {
      if (before == null) {
        configs.remove(route);
      } else {
        configs.put(route, before);
      }
      throw new WeirPropertiesException(problems);
    }
  }

  @Override
  public Mono<Response> isAllowed(String routeId, String id) {
    if (!limits.enabled()) {
      return Mono.just(new Response(true, Map.of()));
    }
    Config config = configs.getOrDefault(routeId, unset);
    String domain = config.domain == null ? OWN_DOMAIN : config.domain;
    RequestLimiter limiter = limiters.computeIfAbsent(domain, this::limiter);
    return limits
        .decide(limiter, new KeyedRequest(routeId, id, config.permits))
        .flatMap(verdict -> ReactiveLimits.hold(limiter, verdict))
        .flatMap(WeirRateLimiter::response);
  }

  private RequestLimiter limiter(String domain) {
    RequestLimiter.Builder builder =
        limits
            .builder()
            .descriptor("route={route},key={login}")
            .permits(request -> request instanceof KeyedRequest keyed ? keyed.permits : 1);
    return (domain.equals(OWN_DOMAIN) ? builder : builder.domain(domain)).build();
  }

  private static Mono<Response> response(Verdict verdict) {
    if (!verdict.passes() && verdict.status() != REFUSED) {
      return Mono.error(ReactiveLimits.exception(verdict));
    }
    Map<String, String> fields = new LinkedHashMap<>();
    verdict.fields((name, value) -> fields.merge(name, value, (one, more) -> one + ", " + more));
    return Mono.just(new Response(verdict.passes(), fields));
  }
}
