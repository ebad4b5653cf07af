package dev.weir.cli.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.admin.Role;
import dev.weir.cli.AdminServer;
import dev.weir.cli.Ran;
import dev.weir.cli.command.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DashboardCommandTest {
  @TempDir private Path folder;
  private AdminServer server;

  @BeforeEach
  void start() throws Exception {
    server = new AdminServer(folder);
    server.commit("shop.yaml", AdminServer.RULES);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static int login(URI link) throws Exception {
    String code = link.getFragment().substring("code=".length());
    HttpRequest request =
        HttpRequest.newBuilder(link.resolve("/admin/v1/session"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"code\":\"" + code + "\"}"))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  @Test
  void link_isGoodForOneLogin() throws Exception {
    Ran ran = server.as(Role.VIEWER, "dashboard");
    assertThat(ran.status()).as(ran.err()).isZero();
    assertThat(ran.err()).contains("good for one login within 60 s");
    URI link = URI.create(ran.out().strip());
    assertThat(link.getPath()).isEqualTo("/dashboard/");
    assertThat(link.getQuery()).isNull();
    assertThat(login(link)).isEqualTo(204);
    assertThat(login(link)).isEqualTo(401);
  }

  @Test
  void json_hasTheLink() {
    Ran ran = server.weir("dashboard", "--json");
    JsonObject json = JsonObject.read(ran.out());
    assertThat(json.text("url")).contains("/dashboard/#code=");
    assertThat(json.number("expires_in_seconds")).isEqualTo(60);
  }
}
