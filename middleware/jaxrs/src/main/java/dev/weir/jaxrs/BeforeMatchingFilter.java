package dev.weir.jaxrs;

import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The filter that limits requests before a resource is searched for. */
@PreMatching
final class BeforeMatchingFilter implements ContainerRequestFilter {
  private final Limits limits;
  private final Function<? super ContainerRequestContext, @Nullable String> peer;

  BeforeMatchingFilter(
      Limits limits, Function<? super ContainerRequestContext, @Nullable String> peer) {
    this.limits = limits;
    this.peer = peer;
  }

  @Override
  public void filter(ContainerRequestContext request) {
    limits.apply(request, new ContainerRequest(request, peer, unmatched -> null));
  }
}
