package dev.weir.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.rules.Request;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;

/** Tests of the actuator's data about Weir, over HTTP. */
@SpringBootTest(
    webEnvironment = WebEnvironment.RANDOM_PORT,
    classes = ActuatorTest.App.class,
    properties = {
      "management.endpoints.web.exposure.include=*",
      "management.endpoint.health.show-details=always",
      "spring.application.name=shop",
      "weir.limits.api.requests=5",
      "weir.limits.api.per=minute",
      "weir.limits.api.by=header:X-Api-Key"
    })
class ActuatorTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {
    @Bean
    SecurityFilterChain open(HttpSecurity http) throws Exception {
      return http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll())
          .csrf(csrf -> csrf.disable())
          .build();
    }
  }

  private final HttpClient client = HttpClient.newHttpClient();

  @LocalServerPort private int port;

  @Autowired private Decider decider;

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path));
  }

  private String get(String path) throws IOException, InterruptedException {
    HttpResponse<String> response = client.send(to(path).build(), BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.body();
  }

  @Test
  void endpoint_listsRules() throws IOException, InterruptedException {
    assertThat(get("weir"))
        .contains("\"path\":\"shop.limit_api.header:X-Api-Key\"", "\"revision\":1");
  }

  @Test
  void endpoint_explainsADescriptor() throws IOException, InterruptedException {
    assertThat(get("weir/shop?descriptor=limit%3Dapi%2Cheader:X-Api-Key%3Dfresh"))
        .contains("decided by", "\"remaining\":5", "\"allowed\":true");
  }

  @Test
  void endpoint_reloads() throws IOException, InterruptedException {
    HttpRequest request =
        to("weir").header("Content-Type", "application/json").POST(BodyPublishers.noBody()).build();
    HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
    assertThat(response.body()).contains("\"problems\":[]");
  }

  @Test
  void health_isUp() throws IOException, InterruptedException {
    assertThat(get("health/weir")).contains("\"status\":\"UP\"", "\"store\":\"available\"");
  }

  @Test
  void meters_areInTheApplicationsRegistry() throws IOException, InterruptedException {
    decider.decide(Request.of("shop", "limit", "api", "header:X-Api-Key", "a"), answer -> {});
    assertThat(get("metrics/weir.rule.permits?tag=rule:api")).contains("within_limit");
  }
}
