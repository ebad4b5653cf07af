package dev.weir.spring.gateway;

import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirPropertiesException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.cloud.gateway.config.GatewayProperties;
import org.springframework.cloud.gateway.filter.FilterDefinition;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.route.RouteDefinition;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.cloud.gateway.support.NameUtils;

/**
 * The check of the limits in the routes of the properties when the application starts, all of them.
 * The gateway itself logs the first error that it finds, and starts without routes. Unknown names
 * are errors too, because a typing error would lift a limit. Routes from elsewhere are checked when
 * the gateway makes them.
 */
final class RouteCheck implements SmartInitializingSingleton {
  private static final String WEIR = "Weir";
  private static final String OTHER = "RequestRateLimiter";
  private static final String DESCRIPTORS = "descriptors";

  private static final String OWN = WeirRateLimiter.PROPERTY + ".";

  /** The names that other limiters read, such as {@code redis-rate-limiter.replenishRate}. */
  private static final Pattern FOREIGN =
      Pattern.compile("[a-z0-9-]*rate-?limiter\\..*", Pattern.CASE_INSENSITIVE);

  /** The gateway's name of an element of a list. */
  private static final Pattern ELEMENT = Pattern.compile("\\.([0-9]+)$");

  /**
   * The names that {@code args} may have, in uniform spelling, with a description of their values.
   */
  private static final Map<String, String> FIELDS =
      Map.ofEntries(
          Map.entry("domain", RouteValues.DOMAIN),
          Map.entry("descriptor", "one descriptor such as route={route},ip={ip}"),
          Map.entry(DESCRIPTORS, "a list of descriptors; a single one is descriptor, without an s"),
          Map.entry("permits", RouteValues.PERMITS),
          Map.entry("missing", "shared, skip or refuse"),
          Map.entry("refundunlessstatus", RouteValues.STATUSES));

  private static final String NAMES =
      "domain, descriptor, descriptors, permits, missing or refund-unless-status";

  private static final Map<String, String> OWN_FIELDS =
      Map.of("domain", RouteValues.DOMAIN, "permits", RouteValues.PERMITS);

  private static final String OWN_NAMES = OWN + "domain or " + OWN + "permits";

  private final GatewayProperties properties;
  private final ConfigurationService service;
  private final @Nullable WeirGatewayFilterFactory factory;
  private final boolean limits;
  private final List<PropertyProblem> problems = new ArrayList<>();

  RouteCheck(
      GatewayProperties properties,
      ConfigurationService service,
      ObjectProvider<WeirGatewayFilterFactory> factory,
      ObjectProvider<WeirRateLimiter> limiter) {
    this.properties = properties;
    this.service = service;
    this.factory = factory.getIfAvailable();
    this.limits = limiter.getIfAvailable() != null;
  }

  @Override
  public void afterSingletonsInstantiated() {
    check("default-filters", properties.getDefaultFilters());
    List<RouteDefinition> routes = properties.getRoutes();
    for (int i = 0; i < routes.size(); i++) {
      check("routes[" + i + "].filters", routes.get(i).getFilters());
    }
    if (!problems.isEmpty()) {
      throw new WeirPropertiesException(problems);
    }
  }

  private void check(String list, List<FilterDefinition> definitions) {
    for (int i = 0; i < definitions.size(); i++) {
      FilterDefinition definition = definitions.get(i);
      String place = GatewayProperties.PREFIX + "." + list + "[" + i + "]";
      if (WEIR.equals(definition.getName()) && factory != null) {
        weir(place, definition.getArgs(), factory);
      } else if (OTHER.equals(definition.getName())) {
        rateLimiter(place + ".args.", definition.getArgs());
      }
    }
  }

  private void weir(String place, Map<String, String> args, WeirGatewayFilterFactory filters) {
    int before = problems.size();
    if (args.keySet().stream().anyMatch(key -> key.startsWith(NameUtils.GENERATED_NAME_PREFIX))) {
      String most = "at most " + WeirGatewayFilterFactory.MAX_PARTS + " entries";
      String text = String.join(",", args.values());
      if (args.size() > WeirGatewayFilterFactory.MAX_PARTS) {
        add(place, text, most);
      } else {
        check(place, text, most, () -> bound(args, filters).problems(field -> place));
      }
    } else {
      // Each argument is bound by itself, so that an unreadable one hides no other.
      args.forEach((key, value) -> argument(place + ".args.", key, value, filters));
    }
    if (problems.size() == before) {
      GatewayFilter unused = filters.apply(bound(args, filters)); // This refuses unsafe addresses.
    }
  }

  private void argument(String place, String key, String value, WeirGatewayFilterFactory filters) {
    String name = place + ELEMENT.matcher(key).replaceFirst("[$1]");
    int dot = key.indexOf('.');
    String field = uniform(dot < 0 ? key : key.substring(0, dot));
    String expected = FIELDS.get(field);
    if (expected == null) {
      add(name, value, NAMES);
    } else if (field.equals(DESCRIPTORS) != dot > 0) {
      add(name, value, expected);
    } else {
      check(name, value, expected, () -> bound(Map.of(key, value), filters).problems(any -> name));
    }
  }

  private WeirGatewayFilterFactory.Config bound(
      Map<String, String> args, WeirGatewayFilterFactory filters) {
    return service.with(filters).name(WEIR).properties(args).bind();
  }

  private void rateLimiter(String place, Map<String, String> args) {
    boolean ours =
        limits && args.keySet().stream().noneMatch(key -> uniform(key).equals("ratelimiter"));
    args.forEach(
        (key, value) -> {
          if (key.startsWith(OWN)) {
            own(place + key, key, value);
          } else if (ours && FOREIGN.matcher(key).matches()) {
            add(
                place + key,
                value,
                OWN_NAMES + ", which WeirRateLimiter reads, or rate-limiter with another bean");
          }
        });
  }

  private void own(String name, String key, String value) {
    String expected = OWN_FIELDS.get(uniform(key.substring(OWN.length())));
    if (expected == null) {
      add(name, value, OWN_NAMES);
    } else {
      check(
          name,
          value,
          expected,
          () ->
              service
                  .with(new WeirRateLimiter.Config())
                  .name(WeirRateLimiter.PROPERTY)
                  .normalizedProperties(Map.of(key, value))
                  .bind()
                  .problems(any -> name));
    }
  }

  private void check(
      String name, String value, String expected, Supplier<List<PropertyProblem>> found) {
    try {
      problems.addAll(found.get());
    } catch (BindException e) {
      add(name, value, expected);
    }
  }

  private void add(String name, String value, String expected) {
    problems.add(new PropertyProblem(name, value, expected));
  }

  private static String uniform(String name) {
    return name.replace("-", "").toLowerCase(Locale.ROOT);
  }
}
