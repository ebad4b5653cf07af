package dev.weir.server.internal.http;

import dev.weir.server.internal.access.Tokens;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The routes from requests for decisions to their endpoints. Safe for use by many threads. */
public final class Routes implements Requests {
  static final String HEALTH = "/healthcheck";
  static final String LIVENESS = "/livez";
  static final String READINESS = "/readyz";

  /** The paths of probes, which have no token. */
  private static final Set<String> PROBES = Set.of(HEALTH, LIVENESS, READINESS);

  private final Map<String, Endpoint> byPath = new HashMap<>();
  private final QuickSource quick;
  private final Tokens tokens;

  public Routes(List<Endpoint> endpoints, QuickSource quick, Tokens tokens) {
    this.quick = quick;
    this.tokens = tokens;
    endpoints.forEach(endpoint -> byPath.put(endpoint.path(), endpoint));
  }

  @Override
  public @Nullable Quick quick() {
    return quick.open(tokens::required);
  }

  @Override
  public @Nullable HttpProblem refusal(HttpServerRequest head) {
    if (known(head)) {
      return null;
    }
    head.response().putHeader("WWW-Authenticate", "Bearer");
    return new HttpProblem(
        401, "Unauthorized", "Authorization: missing or wrong (expected: Bearer and a token)");
  }

  /** Returns whether the client is authorized; probes need no token. */
  private boolean known(HttpServerRequest request) {
    if (!tokens.required() || PROBES.contains(request.path())) {
      return true;
    }
    String authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
    return authorization != null && tokens.acceptsBearer(authorization);
  }

  @Override
  public void answer(HttpServerRequest request, byte[] body, Wait wait) {
    Endpoint endpoint = byPath.get(request.path());
    if (endpoint == null) {
      Reply.problem(request, 404, "Not found", "No such path; GET / lists all paths.");
    } else if (!endpoint.accepts(request.method().name())) {
      request.response().putHeader("Allow", endpoint.allow());
      Reply.problem(
          request,
          405,
          "Method not allowed",
          "method: " + request.method().name() + " (expected: " + endpoint.allow() + ")");
    } else if (endpoint.typed() && !json(request.getHeader(HttpHeaders.CONTENT_TYPE))) {
      Reply.problem(
          request,
          415,
          "Unsupported media type",
          "Content-Type: "
              + request.getHeader(HttpHeaders.CONTENT_TYPE)
              + " (expected: application/json)");
    } else {
      endpoint.handler().handle(request, body, wait);
    }
  }

  /**
   * Returns whether a body may be JSON. A body without a type may be, and curl declares any body a
   * form.
   */
  private static boolean json(@Nullable String contentType) {
    if (contentType == null || contentType.equals("application/json")) {
      return true;
    }
    String type = contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return type.equals("application/json")
        || type.endsWith("+json")
        || type.equals("application/x-www-form-urlencoded");
  }
}
