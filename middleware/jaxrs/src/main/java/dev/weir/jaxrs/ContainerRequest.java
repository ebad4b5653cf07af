package dev.weir.jaxrs;

import dev.weir.identity.RequestView;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.PathSegment;
import java.security.Principal;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A request to a JAX-RS application in the form that a limiter reads. */
final class ContainerRequest implements RequestView {
  private final ContainerRequestContext request;
  private final Function<? super ContainerRequestContext, @Nullable String> peer;
  private final Function<? super ContainerRequestContext, @Nullable String> route;

  ContainerRequest(
      ContainerRequestContext request,
      Function<? super ContainerRequestContext, @Nullable String> peer,
      Function<? super ContainerRequestContext, @Nullable String> route) {
    this.request = request;
    this.peer = peer;
    this.route = route;
  }

  @Override
  public @Nullable String peer() {
    return peer.apply(request);
  }

  @Override
  public List<String> headers(String name) {
    List<String> lines = request.getHeaders().get(name);
    return lines == null ? List.of() : lines;
  }

  @Override
  public String method() {
    return request.getMethod();
  }

  /**
   * Returns the path below the application's, in the form that resources match: a slash at its end
   * does not matter, and an encoded slash does not separate segments.
   */
  @Override
  public String path() {
    StringBuilder path = new StringBuilder();
    int end = 0;
    for (PathSegment segment : request.getUriInfo().getPathSegments()) {
      path.append('/').append(segment.getPath().replace("/", "%2F"));
      end = segment.getPath().isEmpty() ? end : path.length();
    }
    path.setLength(end);
    return path.isEmpty() ? "/" : path.toString();
  }

  @Override
  public @Nullable String queryText() {
    return request.getUriInfo().getRequestUri().getRawQuery();
  }

  @Override
  public @Nullable String login() {
    if (request.getSecurityContext() == null) {
      return null;
    }
    Principal user = request.getSecurityContext().getUserPrincipal();
    return user == null ? null : user.getName();
  }

  @Override
  public @Nullable String route() {
    return route.apply(request);
  }
}
