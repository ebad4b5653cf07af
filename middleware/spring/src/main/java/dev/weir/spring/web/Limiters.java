package dev.weir.spring.web;

import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.SecretHash;
import dev.weir.identity.Source;
import dev.weir.protocol.http.OlderFields;
import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirProperties;
import dev.weir.spring.WeirPropertiesException;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;

/** The limiters of the properties, one for each filter. */
final class Limiters {
  /*
   * Spring Security's chain has the order -100 in every Boot and in both kinds of application. A
   * filter that needs the login comes right after it; any other before it, so that the hashing of
   * passwords is protected too.
   */
  private static final int BEFORE_SECURITY = -101;
  private static final int AFTER_SECURITY = -99;

  private final WeirProperties properties;
  private final Environment environment;
  private final Decider decider;
  private final Ticker ticker;
  private final List<String> exempt;
  private final List<WeirProperties.Filter> filters;

  Limiters(
      WeirProperties properties,
      Environment environment,
      Decider decider,
      ObjectProvider<Ticker> ticker,
      ObjectProvider<ExemptEndpoints> endpoints) {
    this.properties = properties;
    this.environment = environment;
    this.decider = decider;
    this.ticker = ticker.getIfAvailable(Ticker::system);
    this.exempt = endpoints.stream().flatMap(each -> each.paths().stream()).toList();
    this.filters = properties.allFilters();
  }

  boolean enabled() {
    return properties.enabled();
  }

  boolean respondsByException() {
    return properties.respond() == WeirProperties.Respond.EXCEPTION;
  }

  /**
   * Refuses properties that count failed logins, because nothing reports those here.
   *
   * @throws WeirPropertiesException if there are such properties
   */
  void refuseFailedLogins(String expected) {
    List<PropertyProblem> problems =
        IntStream.range(0, filters.size())
            .filter(i -> filters.get(i).refundUnlessLoginFailed())
            .mapToObj(i -> "weir.filters[" + i + "].refund-unless-login-failed")
            .map(name -> new PropertyProblem(name, true, expected))
            .toList();
    if (!problems.isEmpty()) {
      throw new WeirPropertiesException(problems);
    }
  }

  int maxBlockedThreads() {
    return properties.queue().maxBlockedThreads();
  }

  /** Returns the name of a filter, which differs from all others. */
  String name(int index) {
    String name = filters.get(index).name();
    return "weirFilter" + index + (name == null ? "" : "-" + name);
  }

  int order(int index, RequestLimiter limiter) {
    String order = filters.get(index).order();
    if (!order.equals(WeirProperties.Filter.AUTO)) {
      return Integer.parseInt(order);
    }
    return limiter.uses(Source.LOGIN) ? AFTER_SECURITY : BEFORE_SECURITY;
  }

  RequestLimiter limiter(int index) {
    WeirProperties.Filter filter = filters.get(index);
    RequestLimiter.Builder builder = builder().paths(filter.paths()).methods(filter.methods());
    filter.descriptors().forEach(builder::descriptor);
    if (!filter.refundUnlessStatus().isEmpty()) {
      builder.refundUnless(
          filter.refundUnlessStatus().stream().mapToInt(Integer::intValue).toArray());
    }
    if (filter.refundUnlessLoginFailed()) {
      builder.refundUnlessCounted();
    }
    if (filter.costs() == WeirProperties.Costs.REPORTED) {
      builder.costsReported();
    } else {
      builder.permits(filter.permits());
    }
    return builder.exempt(filter.exempt()).exempt(exempt).missing(filter.missing()).build();
  }

  /** Returns a builder with the settings that all limiters of the application share. */
  RequestLimiter.Builder builder() {
    String pepper = properties.identity().pepper();
    WeirProperties.Fields fields = properties.fields();
    return RequestLimiter.builder(decider)
        .domain(properties.domain(environment))
        .address(properties.addresses())
        .secrets(pepper == null ? SecretHash.plain() : SecretHash.withPepper(pepper))
        .exemptPreflight(properties.exemptPreflight())
        .fields(fields == WeirProperties.Fields.STANDARD)
        .olderFields(
            switch (fields) {
              case STANDARD, NONE -> OlderFields.NONE;
              case RATELIMIT -> OlderFields.RATELIMIT;
              case ENVOY -> OlderFields.ENVOY;
              case GITHUB -> OlderFields.GITHUB;
              case OPENAI -> OlderFields.OPENAI;
            })
        .maxRetryAfter(properties.retryAfter().max())
        .retryJitter(properties.retryAfter().jitter())
        .longestSeat(properties.longestSeat())
        .ticker(ticker);
  }
}
