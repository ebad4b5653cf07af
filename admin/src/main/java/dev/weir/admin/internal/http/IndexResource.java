package dev.weir.admin.internal.http;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of the list of routes, and of their description as OpenAPI. */
public final class IndexResource implements Resource {
  static final String OPENAPI = "/dev/weir/admin/openapi-admin.json";

  private final List<Route> all;

  /**
   * @param all all routes; the list is complete when the first request comes
   */
  public IndexResource(List<Route> all) {
    this.all = all;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/", null, "Lists what can be asked for.", call -> index()).answers(200),
        Route.get("/openapi.json", null, "Describes the interface as OpenAPI.", call -> openapi())
            .answers(200));
  }

  private AdminResponse index() {
    List<Map<String, Object>> routes = new ArrayList<>();
    for (Route route : all) {
      Map<String, Object> members = new LinkedHashMap<>();
      Role role = route.role();
      members.put("method", route.method());
      members.put("path", Router.BASE + route.path());
      members.put("role", role == null ? "none" : role.text());
      members.put("summary", route.summary());
      routes.add(members);
    }
    return Reply.json(200, Map.of("routes", routes));
  }

  private static AdminResponse openapi() {
    try (InputStream resource = IndexResource.class.getResourceAsStream(OPENAPI)) {
      if (resource == null) {
        throw new IllegalStateException(OPENAPI + ": missing (expected: in the jar)");
      }
      return Reply.bytes(200, "application/json", resource.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
