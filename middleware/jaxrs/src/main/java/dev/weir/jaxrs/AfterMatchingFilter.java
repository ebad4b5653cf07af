package dev.weir.jaxrs;

import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.core.Context;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The filter that limits requests for which a resource has been found. */
final class AfterMatchingFilter implements ContainerRequestFilter {
  private final Limits limits;
  private final Function<? super ContainerRequestContext, @Nullable String> peer;
  private final Function<? super ContainerRequestContext, @Nullable String> route;

  /** The resource of the current request, on whichever thread it is read. */
  @Context private @Nullable ResourceInfo resource;

  AfterMatchingFilter(
      Limits limits,
      Function<? super ContainerRequestContext, @Nullable String> peer,
      @Nullable Function<? super ContainerRequestContext, @Nullable String> route) {
    this.limits = limits;
    this.peer = peer;
    this.route = route == null ? request -> chosen() : route;
  }

  @Override
  public void filter(ContainerRequestContext request) {
    limits.apply(request, new ContainerRequest(request, peer, route));
  }

  private @Nullable String chosen() {
    ResourceInfo info = resource;
    if (info == null || info.getResourceClass() == null || info.getResourceMethod() == null) {
      return null;
    }
    Path whole = info.getResourceClass().getAnnotation(Path.class);
    if (whole == null) {
      return null; // Another resource has located it: JAX-RS 3.1 does not provide its path.
    }
    Path part = info.getResourceMethod().getAnnotation(Path.class);
    String path = trimmed(whole.value()) + (part == null ? "" : trimmed(part.value()));
    return path.isEmpty() ? "/" : path;
  }

  /** Returns a path with a slash before it and none after it. */
  private static String trimmed(String path) {
    int end = path.endsWith("/") ? path.length() - 1 : path.length();
    int start = path.startsWith("/") ? Math.min(1, end) : 0;
    return start == end ? "" : "/" + path.substring(start, end);
  }
}
