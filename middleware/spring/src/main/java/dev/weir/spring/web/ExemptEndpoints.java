package dev.weir.spring.web;

import dev.weir.spring.WeirProperties;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.actuate.endpoint.web.PathMappedEndpoints;
import org.springframework.boot.actuate.endpoint.web.WebServerNamespace;
import org.springframework.core.env.Environment;

/**
 * The actuator endpoints whose requests are not counted. On a port of their own there is no filter,
 * and the same paths on the application's port are the application's.
 */
final class ExemptEndpoints {
  private static final EndpointId HEALTH = EndpointId.of("health");
  private static final String PORT = "management.server.port";

  private final WeirProperties.ExemptActuator exempt;
  private final ObjectProvider<PathMappedEndpoints> providers;
  private final Environment environment;

  ExemptEndpoints(
      WeirProperties properties,
      ObjectProvider<PathMappedEndpoints> providers,
      Environment environment) {
    this.exempt = properties.exemptActuator();
    this.providers = providers;
    this.environment = environment;
  }

  /** Returns patterns of paths, from the view of filters. */
  List<String> paths() {
    PathMappedEndpoints endpoints = providers.getIfAvailable();
    if (endpoints == null || exempt == WeirProperties.ExemptActuator.NONE) {
      return List.of();
    }
    // Probes are on the application's port, wherever the other endpoints are.
    List<String> paths = new ArrayList<>(List.of("/livez", "/readyz"));
    for (String path : endpoints.getAdditionalPaths(WebServerNamespace.SERVER, HEALTH)) {
      paths.add(path + "/**");
    }
    if (samePort()) {
      String prefix = servletPath();
      for (String path :
          exempt == WeirProperties.ExemptActuator.ALL ? all(endpoints) : health(endpoints)) {
        paths.add(prefix + path + "/**");
      }
    }
    return paths;
  }

  private static List<String> health(PathMappedEndpoints endpoints) {
    String path = endpoints.getPath(HEALTH);
    return path == null ? List.of() : List.of(path);
  }

  private static List<String> all(PathMappedEndpoints endpoints) {
    List<String> paths = new ArrayList<>(endpoints.getAllPaths());
    if (endpoints.getBasePath().length() > 1) {
      paths.add(endpoints.getBasePath());
    }
    return paths;
  }

  private boolean samePort() {
    String port = environment.getProperty(PORT);
    // 0 is any free port, another one each time.
    return port == null
        || (!port.equals("0") && port.equals(environment.getProperty("server.port", "8080")));
  }

  private String servletPath() {
    String path = environment.getProperty("spring.mvc.servlet.path", "");
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
