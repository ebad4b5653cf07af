package dev.weir.spring.gateway.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.Ticker;
import dev.weir.spring.gateway.WeirGatewayFilterFactory;
import dev.weir.testkit.FakeTicker;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GatewayFilter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;

/**
 * A gateway on a free port, configured by gateway.yaml, whose limits count on the test's ticker.
 */
final class Gateway implements AutoCloseable {
  /**
   * The longest that a test waits for a condition that certainly comes, on a machine that may be
   * overloaded.
   */
  private static final long MOST_SECONDS = 90;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class App {
    @Bean
    FakeTicker ticker() {
      return new FakeTicker(1_700_000_000_000_000_000L);
    }

    @Bean
    Domains decider(FakeTicker ticker) {
      return new Domains(ticker);
    }

    /** Returns a filter in place of authentication: it comes before the gateway's routes. */
    @Bean
    WebFilter authentication() {
      return (exchange, chain) -> {
        String user = exchange.getRequest().getHeaders().getFirst("X-Authenticated");
        Mono<Principal> principal = user == null ? Mono.empty() : Mono.just(() -> user);
        return chain.filter(exchange.mutate().principal(principal).build());
      };
    }

    /** Returns a route that is written in Java. */
    @Bean
    RouteLocator coded(
        RouteLocatorBuilder routes, WeirGatewayFilterFactory weir, Environment environment) {
      GatewayFilter limit = weir.apply(args -> args.setPermits(2));
      String uri = environment.getRequiredProperty("backend");
      return routes
          .routes()
          .route("coded", route -> route.path("/coded/**").filters(f -> f.filter(limit)).uri(uri))
          .build();
    }
  }

  final ConfigurableApplicationContext context;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final int port;

  Gateway(Backend backend, String... properties) {
    List<String> arguments = new ArrayList<>();
    for (String property : properties) {
      arguments.add("--" + property);
    }
    arguments.add("--backend=" + backend.uri());
    arguments.add("--spring.config.location=classpath:gateway.yaml");
    SpringApplication application = new SpringApplication(App.class);
    application.setRegisterShutdownHook(false);
    context = application.run(arguments.toArray(String[]::new));
    port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
  }

  FakeTicker ticker() {
    return context.getBean(FakeTicker.class);
  }

  Domains domains() {
    return context.getBean(Domains.class);
  }

  /**
   * Sends a request with header fields, name after value, on a connection of its own: Reactor Netty
   * 1.3 may leave the next request of a connection unread (its issue 4361).
   */
  CompletableFuture<HttpResponse<String>> send(String method, String path, String... fields) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(method, BodyPublishers.noBody())
            .header("Connection", "close");
    if (fields.length > 0) {
      request.headers(fields);
    }
    return client
        .sendAsync(request.build(), BodyHandlers.ofString())
        .orTimeout(MOST_SECONDS, TimeUnit.SECONDS);
  }

  HttpResponse<String> get(String path, String... fields) {
    return send("GET", path, fields).join();
  }

  int status(String path, String... fields) {
    return get(path, fields).statusCode();
  }

  int port() {
    return port;
  }

  /** Waits for a condition that another thread fulfils. */
  static void await(String what, BooleanSupplier condition) {
    Ticker time = Ticker.system();
    long start = time.nanos();
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
      assertThat(time.nanos() - start).as(what).isLessThan(TimeUnit.SECONDS.toNanos(MOST_SECONDS));
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
