package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.Ticker;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.DefaultResourceLoader;

/** An application on a free port, whose limits count on the test's ticker. */
final class Site implements AutoCloseable {
  /** Two requests a minute, or at the same time; and one a second of those that may wait. */
  static final String RULES =
      """
      domain: shop
      descriptors:
        - key: ip
          rate_limit: {unit: minute, requests_per_unit: 2}
        - key: user
          rate_limit: {unit: minute, requests_per_unit: 2}
        - key: failed
          rate_limit: {unit: minute, requests_per_unit: 2}
        - key: seat
          rate_limit: {concurrency: 2, hold: 30s}
        - key: queued
          rate_limit:
            unit: second
            requests_per_unit: 1
            on_limit: {queue: {requests: 1, wait: 3s}}
      """;

  /** The password of the user alice. */
  static final String RIGHT = "secret";

  static final String REACTIVE = "spring.main.web-application-type=reactive";

  /** The class loader that hides Tomcat: of both servers, Tomcat would be preferred. */
  static final ClassLoader NETTY = new FilteredClassLoader("org.apache.catalina");

  /**
   * The class loader that hides Reactor Netty as a server: newer Boots would prefer it to Tomcat.
   */
  static final ClassLoader TOMCAT = new FilteredClassLoader("reactor.netty.http.server");

  /** The scheduled tasks of waiting requests: when to decide again, and when to give up. */
  private static final Semaphore TASKS = new Semaphore(0);

  /** Limits that count in this process, on a ticker. */
  @Configuration(proxyBeanMethods = false)
  static class Limits {
    @Bean
    FakeTicker ticker() {
      return new FakeTicker();
    }

    @Bean
    Decider decider(FakeTicker ticker) {
      return engine(ticker, new MemoryStore());
    }
  }

  /** A ticker that reports each scheduled task. */
  private record AnnouncingTicker(FakeTicker ticker) implements Ticker {
    @Override
    public long nanos() {
      return ticker.nanos();
    }

    @Override
    public ScheduledTask schedule(long delayNanos, Runnable task) {
      ScheduledTask scheduled = ticker.schedule(delayNanos, task);
      TASKS.release();
      return scheduled;
    }
  }

  private final ConfigurableApplicationContext context;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final int port;

  private Site(ConfigurableApplicationContext context) {
    this.context = context;
    port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
  }

  static Engine engine(FakeTicker ticker, Store store) {
    Engine engine = Engine.create(store, new AnnouncingTicker(ticker), EngineSettings.DEFAULTS);
    Rules.LoadResult loaded = Rules.parse("rules.yaml", RULES);
    assertThat(loaded.problems()).isEmpty();
    engine.apply(Objects.requireNonNull(loaded.ruleSet()));
    return engine;
  }

  /** Starts an application with {@link Limits}. */
  static Site start(ClassLoader loader, Class<?> app, String... properties) {
    return start(loader, new Class<?>[] {app, Limits.class}, properties);
  }

  /**
   * Starts an application.
   *
   * @param loader determines the server, of those in the test
   */
  static Site start(ClassLoader loader, Class<?>[] classes, String... properties) {
    TASKS.drainPermits();
    List<String> arguments = new ArrayList<>();
    for (String property : properties) {
      arguments.add("--" + property);
    }
    arguments.add("--server.port=0");
    arguments.add("--weir.domain=shop");
    arguments.add("--spring.main.banner-mode=off");
    arguments.add("--server.shutdown=immediate");
    arguments.add("--spring.reactor.netty.shutdown-quiet-period=0s");
    SpringApplication application =
        new SpringApplication(new DefaultResourceLoader(loader), classes);
    application.setRegisterShutdownHook(false);
    return new Site(application.run(arguments.toArray(String[]::new)));
  }

  /** Returns when one more request waits. */
  void awaitWaiting() {
    TASKS.acquireUninterruptibly(2);
  }

  boolean hasBean(String name) {
    return context.containsBean(name);
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  <T> T bean(String name, Class<T> type) {
    return context.getBean(name, type);
  }

  FakeTicker ticker() {
    return bean(FakeTicker.class);
  }

  /**
   * Sends a request with header fields, name after value, on a connection of its own: Reactor Netty
   * 1.3.6 and 1.3.7 may stop reading a connection that is used again (reactor-netty issue 4361).
   */
  CompletableFuture<HttpResponse<String>> send(String method, String path, String... fields) {
    return send(method, path, BodyPublishers.noBody(), fields);
  }

  /** Sends a request whose body is the form of a login by the user alice. */
  CompletableFuture<HttpResponse<String>> login(String password) {
    return send(
        "POST",
        "/login",
        BodyPublishers.ofString("username=alice&password=" + password),
        "Content-Type",
        "application/x-www-form-urlencoded");
  }

  private CompletableFuture<HttpResponse<String>> send(
      String method, String path, HttpRequest.BodyPublisher body, String... fields) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .method(method, body)
            .header("Connection", "close");
    if (fields.length > 0) {
      request.headers(fields);
    }
    return client.sendAsync(request.build(), BodyHandlers.ofString());
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

  /** Returns the value of Authorization for the user alice. */
  static String basic(String password) {
    byte[] text = ("alice:" + password).getBytes(StandardCharsets.UTF_8);
    return "Basic " + Base64.getEncoder().encodeToString(text);
  }

  @Override
  public void close() {
    context.close();
  }
}
