package dev.weir.spring.gateway;

import dev.weir.http.RequestLimiter;
import dev.weir.identity.MissingValue;
import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirPropertiesException;
import dev.weir.spring.web.ReactiveLimits;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.support.HasRouteId;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * The factory of the filter {@code Weir} of a route, which limits requests and answers refused ones
 * in the same way as all middleware of Weir. In descriptors {@code {route}} is the route's id.
 *
 * <pre>{@code
 * filters:
 *   - Weir=route={route},ip={ip}
 *   - name: Weir
 *     args:
 *       domain: shop
 *       descriptors: ["ip={ip}", "user={login}"]
 *       permits: 2
 * }</pre>
 *
 * <p>The short form is one descriptor; without any it is {@code route={route},ip={ip}}. The factory
 * and its filters are safe for use by many threads.
 */
public final class WeirGatewayFilterFactory
    extends AbstractGatewayFilterFactory<WeirGatewayFilterFactory.Config> {
  /** The most entries of a descriptor; the short form is cut at the commas between them. */
  static final int MAX_PARTS = 32;

  private static final List<String> PARTS =
      IntStream.range(0, MAX_PARTS).mapToObj(i -> "descriptor[" + i + "]").toList();

  private final ReactiveLimits limits;

  /** Makes a factory of filters with these settings. */
  public WeirGatewayFilterFactory(ReactiveLimits limits) {
    super(Config.class);
    this.limits = limits;
  }

  /** The settings of a route. Set before the filter is made, by one thread. */
  public static final class Config implements HasRouteId {
    private static final List<String> DEFAULT = List.of("route={route},ip={ip}");

    /** The order of the elements of a list, whose names are numbers in a file of properties. */
    private static final Comparator<String> NUMBERS =
        Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

    private @Nullable String routeId;
    private @Nullable String domain;
    private List<String> descriptor = new ArrayList<>();
    private Map<String, String> descriptors = new LinkedHashMap<>();
    private long permits = 1;
    private MissingValue missing = MissingValue.SHARED;
    private Set<Integer> refundUnlessStatus = new TreeSet<>();

    @Override
    public @Nullable String getRouteId() {
      return routeId;
    }

    @Override
    public void setRouteId(@Nullable String routeId) {
      this.routeId = routeId;
    }

    /** Returns the domain of the rules; null for {@code weir.domain}. */
    public @Nullable String getDomain() {
      return domain;
    }

    /** Sets the domain of the rules, 1 to 1,024 characters. Default: {@code weir.domain}. */
    public void setDomain(@Nullable String domain) {
      this.domain = domain;
    }

    /** Returns the entries of one descriptor. */
    public List<String> getDescriptor() {
      return descriptor;
    }

    /** Sets one descriptor by its entries, such as {@code ip={ip}}; they belong together. */
    public void setDescriptor(List<String> entries) {
      this.descriptor = entries;
    }

    /** Returns descriptors by names that only order them. */
    public Map<String, String> getDescriptors() {
      return descriptors;
    }

    /**
     * Sets descriptors, which are charged together or not at all, by names that only order them.
     */
    public void setDescriptors(Map<String, String> descriptors) {
      this.descriptors = descriptors;
    }

    /** Returns the permits of a request. */
    public long getPermits() {
      return permits;
    }

    /** Sets the permits of a request, at least 0. Default: 1. */
    public void setPermits(long permits) {
      this.permits = permits;
    }

    /** Returns the treatment of a request without a value that a descriptor needs. */
    public MissingValue getMissing() {
      return missing;
    }

    /** Sets the treatment of a request without a value that a descriptor needs. Default: shared. */
    public void setMissing(MissingValue missing) {
      this.missing = missing;
    }

    /** Returns the statuses that count; none if all requests do. */
    public Set<Integer> getRefundUnlessStatus() {
      return refundUnlessStatus;
    }

    /** Sets the statuses that count, each from 100 to 599. Default: all requests count. */
    public void setRefundUnlessStatus(Set<Integer> statuses) {
      this.refundUnlessStatus = statuses;
    }

    /** Returns all descriptors by their names in properties. */
    private Map<String, String> templates() {
      Map<String, String> all = new LinkedHashMap<>();
      if (!descriptor.isEmpty()) {
        all.put("descriptor", String.join(",", descriptor));
      }
      descriptors.entrySet().stream()
          .sorted(Map.Entry.comparingByKey(NUMBERS))
          .forEach(each -> all.put("descriptors[" + each.getKey() + "]", each.getValue()));
      return all;
    }

    /** Returns all problems, with names made of those of the fields. */
    List<PropertyProblem> problems(UnaryOperator<String> name) {
      List<PropertyProblem> problems = new ArrayList<>();
      RouteValues.domain(domain, name, problems);
      templates().forEach((field, text) -> RouteValues.descriptor(field, text, name, problems));
      RouteValues.permits(permits, name, problems);
      RouteValues.statuses(refundUnlessStatus, name, problems);
      return problems;
    }

    private RequestLimiter limiter(RequestLimiter.Builder builder) {
      if (domain != null) {
        builder.domain(domain);
      }
      Map<String, String> templates = templates();
      (templates.isEmpty() ? DEFAULT : templates.values()).forEach(builder::descriptor);
      if (!refundUnlessStatus.isEmpty()) {
        builder.refundUnless(refundUnlessStatus.stream().mapToInt(Integer::intValue).toArray());
      }
      return builder.permits(permits).missing(missing).build();
    }

    @Override
    public String toString() {
      return templates().isEmpty() ? DEFAULT.toString() : templates().values().toString();
    }
  }

  /** A filter with the text that the gateway's list of routes shows. */
  private record RouteLimit(ReactiveLimits limits, RequestLimiter limiter, String text)
      implements GatewayFilter {
    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
      Route route = exchange.getRequiredAttribute(ServerWebExchangeUtils.GATEWAY_ROUTE_ATTR);
      return limits.limit(limiter, exchange, route.getId(), () -> chain.filter(exchange));
    }

    @Override
    public String toString() {
      return text;
    }
  }

  @Override
  public List<String> shortcutFieldOrder() {
    return PARTS;
  }

  /**
   * Makes a filter.
   *
   * @throws WeirPropertiesException with all problems
   * @throws IllegalStateException if the server takes addresses from headers that clients write
   */
  @Override
  public GatewayFilter apply(Config config) {
    List<PropertyProblem> problems =
        config.problems(field -> "route " + config.routeId + ", filter Weir: " + field);
    if (!problems.isEmpty()) {
      throw new WeirPropertiesException(problems);
    }
    RequestLimiter limiter = config.limiter(limits.builder());
    limits.check(limiter);
    return new RouteLimit(limits, limiter, "[Weir " + config + "]");
  }
}
