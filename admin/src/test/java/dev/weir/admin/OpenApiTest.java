package dev.weir.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.http.Router;
import dev.weir.config.Json;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Tests that the description has every route, parameter and status of the code, and no others. */
class OpenApiTest {
  private final AdminFixture admin = new AdminFixture();
  private final Json.Members described = admin.send("GET", "/openapi.json").now().is(200).json();

  @Test
  void routesAndStatuses_areThoseOfTheCode() throws IOException {
    Map<String, Set<String>> code = new TreeMap<>();
    for (Route route : admin.api.routes()) {
      Set<String> statuses = new TreeSet<>();
      route.statuses().forEach(status -> statuses.add(status.toString()));
      code.put(route.method() + " " + Router.BASE + route.path(), statuses);
    }
    Map<String, Set<String>> description = new TreeMap<>();
    Json.Members paths = described.object("paths");
    for (String path : paths.names()) {
      for (String method : paths.object(path).names()) {
        Json.Members operation = paths.object(path).object(method);
        description.put(
            method.toUpperCase(Locale.ROOT) + " " + path,
            new TreeSet<>(operation.object("responses").names()));
      }
    }
    assertThat(description).isEqualTo(code);
  }

  @Test
  void rolesParametersAndBodies_areThoseOfTheCode() throws IOException {
    for (Route route : admin.api.routes()) {
      Json.Members operation =
          described
              .object("paths")
              .object(Router.BASE + route.path())
              .object(route.method().toLowerCase(Locale.ROOT));
      Role role = route.role();
      assertThat(operation.text("x-role")).isEqualTo(role == null ? "none" : role.text());
      assertThat(operation.text("summary")).isEqualTo(route.summary());
      assertThat(operation.has("requestBody")).as(route.toString()).isEqualTo(route.body());
      Set<String> query = new TreeSet<>();
      for (Json.Members parameter :
          operation.has("parameters") ? operation.objects("parameters") : List.<Json.Members>of()) {
        if (parameter.text("in").equals("query")) {
          query.add(parameter.text("name"));
        }
      }
      assertThat(query).as(route.toString()).isEqualTo(new TreeSet<>(route.query()));
    }
  }

  @Test
  void references_leadSomewhere() throws IOException {
    String text = Json.write(described.without(Set.of()));
    Json.Members components = described.object("components");
    for (String part : List.of("schemas", "responses")) {
      String prefix = "#/components/" + part + "/";
      int at = text.indexOf(prefix);
      while (at >= 0) {
        String name = text.substring(at + prefix.length(), text.indexOf('"', at));
        assertThat(components.object(part).has(name)).as(name).isTrue();
        at = text.indexOf(prefix, at + 1);
      }
    }
  }

  @Test
  void index_listsEveryRoute() {
    AdminFixture.Answer index = admin.send("GET", "").now().is(200);
    assertThat(index.objects("routes"))
        .extracting(route -> Call.reading(() -> route.text("method") + " " + route.text("path")))
        .containsExactlyElementsOf(
            admin.api.routes().stream()
                .map(route -> route.method() + " " + Router.BASE + route.path())
                .toList());
  }
}
