package dev.weir.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.spring.WeirProperties;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Configuration;

/** Tests that an application with a real port finds the starter. */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, classes = StartTest.App.class)
class StartTest {
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {}

  @LocalServerPort private int port;

  @Autowired private WeirProperties properties;

  @Test
  void boot_isTheOneThatTheModuleNames() {
    assertThat(SpringBootVersion.getVersion())
        .isEqualTo(System.getProperty("expected.boot.version"));
  }

  @Test
  void application_startsWithTheStarter() throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/health")).build();
    assertThat(HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode())
        .isEqualTo(200);
    assertThat(properties.enabled()).isTrue();
  }
}
