package dev.weir.spring.web;

import dev.weir.spring.PropertyProblem;
import dev.weir.spring.WeirProperties;
import jakarta.servlet.ServletContext;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;

/**
 * The listener that warns of paths in the properties that no request has: those with the context
 * path, or without the path of Spring MVC's servlet. Filters see paths between the two.
 */
final class IdlePaths implements ApplicationListener<ApplicationReadyEvent> {
  private static final System.Logger LOG = System.getLogger(IdlePaths.class.getName());

  private final WeirProperties properties;
  private final Environment environment;
  private final boolean mvc;

  /**
   * @param mvc true if Spring MVC is there
   */
  IdlePaths(WeirProperties properties, Environment environment, boolean mvc) {
    this.properties = properties;
    this.environment = environment;
    this.mvc = mvc;
  }

  @Override
  public void onApplicationEvent(ApplicationReadyEvent event) {
    if (properties.enabled()
        && event.getApplicationContext() instanceof WebApplicationContext context
        && context.getServletContext() != null) {
      for (PropertyProblem problem : problems(context, context.getServletContext())) {
        LOG.log(Level.WARNING, "no request has this path, {0}", problem);
      }
    }
  }

  private List<PropertyProblem> problems(WebApplicationContext context, ServletContext servlets) {
    Place place =
        new Place(
            trimmed(servlets.getContextPath()),
            trimmed(environment.getProperty("spring.mvc.servlet.path", "")),
            mvc ? Handlers.paths(context) : Set.of());
    List<PropertyProblem> problems = new ArrayList<>();
    paths()
        .forEach(
            (name, paths) -> {
              for (String path : paths) {
                String right = place.right(path);
                if (right != null) {
                  problems.add(new PropertyProblem(name, path, right));
                }
              }
            });
    return problems;
  }

  /** Returns the paths of the properties by their names. */
  private Map<String, List<String>> paths() {
    Map<String, List<String>> paths = new LinkedHashMap<>();
    for (int i = 0; i < properties.filters().size(); i++) {
      WeirProperties.Filter filter = properties.filters().get(i);
      paths.put("weir.filters[" + i + "].paths", filter.paths());
      paths.put("weir.filters[" + i + "].exempt", filter.exempt());
    }
    properties
        .limits()
        .forEach((name, limit) -> paths.put("weir.limits." + name + ".paths", limit.paths()));
    return paths;
  }

  private static String trimmed(String path) {
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  /**
   * The place of an application's handlers.
   *
   * @param context the context path, empty if there is none
   * @param servlet the path of Spring MVC's servlet, empty if it has all paths
   * @param handlers the patterns of handlers, below both
   */
  private record Place(String context, String servlet, Set<String> handlers) {
    /** Returns a text with the right form of a path, or null if the path may be right. */
    @Nullable String right(String path) {
      if (below(context, path)
          && handlers.stream().noneMatch(handler -> below(context, servlet + handler))) {
        String rest = path.substring(context.length());
        return "a path below the context path " + context + ": " + (rest.isEmpty() ? "/" : rest);
      }
      if (!servlet.isEmpty() && !below(servlet, path) && handlers.contains(path)) {
        return "a path with that of Spring MVC's servlet: " + servlet + path;
      }
      return null;
    }

    private static boolean below(String parent, String path) {
      return !parent.isEmpty() && (path.equals(parent) || path.startsWith(parent + "/"));
    }
  }

  /** A separate class, because Spring MVC may be absent. */
  private static final class Handlers {
    static Set<String> paths(WebApplicationContext context) {
      Set<String> paths = new TreeSet<>();
      for (RequestMappingInfoHandlerMapping mapping :
          context.getBeansOfType(RequestMappingInfoHandlerMapping.class, true, false).values()) {
        for (RequestMappingInfo info : mapping.getHandlerMethods().keySet()) {
          paths.addAll(info.getPatternValues());
        }
      }
      return paths;
    }
  }
}
