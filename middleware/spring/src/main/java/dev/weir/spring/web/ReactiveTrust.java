package dev.weir.spring.web;

import dev.weir.http.RequestLimiter;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

/** The check that addresses cannot be forged, in an application of Spring WebFlux. */
final class ReactiveTrust {
  private final AddressTrust trust;
  private final boolean transformed;

  ReactiveTrust(AddressTrust trust, ObjectProvider<ForwardedHeaderTransformer> transformer) {
    this.trust = trust;
    this.transformed = transformer.stream().findAny().isPresent();
  }

  void check(RequestLimiter limiter) {
    trust.checkReactive(limiter, transformed);
  }
}
