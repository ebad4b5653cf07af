package dev.weir.admin.internal.http;

import dev.weir.admin.internal.limits.ShownText;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The search for the route of a request. Immutable. */
public final class Router {
  public static final String BASE = "/admin/v1";

  private static final int MAX_PATH = 32 << 10;

  /** A route with the values of its parameters. */
  public record Match(Route route, Map<String, String> parameters) {}

  private final List<Route> routes;

  public Router(List<Route> routes) {
    this.routes = List.copyOf(routes);
    Set<String> seen = new HashSet<>();
    for (Route route : routes) {
      if (!seen.add(route.toString())) {
        throw new IllegalStateException(route + ": twice (expected: once)");
      }
    }
  }

  public List<Route> routes() {
    return routes;
  }

  /**
   * Returns the route of a request.
   *
   * @throws RequestException with 400, 404 or 405
   */
  public Match match(String method, String path) {
    if (path.length() > MAX_PATH) {
      throw new RequestException(
          400, "path: " + path.length() + " bytes (expected: at most 32768)");
    }
    if (!path.equals(BASE) && !path.startsWith(BASE + "/")) {
      throw nothing(path);
    }
    // The path is split before it is decoded: an escaped slash is a part of its segment.
    List<String> segments = new ArrayList<>();
    String behind = path.equals(BASE) ? "/" : path.substring(BASE.length());
    for (String part : behind.substring(1).split("/", -1)) {
      segments.add(PercentText.decode(part, false));
    }
    Set<String> methods = new TreeSet<>();
    for (Route route : routes) {
      Map<String, String> parameters = parameters(route, segments);
      if (parameters != null) {
        if (route.method().equals(method)) {
          return new Match(route, parameters);
        }
        methods.add(route.method());
      }
    }
    if (methods.isEmpty()) {
      throw nothing(path);
    }
    String allowed = String.join(", ", methods);
    throw new RequestException(405, ShownText.wrong("method", method, allowed))
        .field("Allow", allowed);
  }

  private static RequestException nothing(String path) {
    return new RequestException(404, ShownText.wrong("path", path, "one of those at " + BASE));
  }

  private static @Nullable Map<String, String> parameters(Route route, List<String> segments) {
    List<String> names = route.segments();
    if (names.size() != segments.size()) {
      return null;
    }
    Map<String, String> parameters = new LinkedHashMap<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      if (name.startsWith("{")) {
        parameters.put(name.substring(1, name.length() - 1), segments.get(i));
      } else if (!name.equals(segments.get(i))) {
        return null;
      }
    }
    return parameters;
  }
}
