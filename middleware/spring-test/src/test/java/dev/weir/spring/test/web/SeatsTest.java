package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.rules.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests of limits at the same time: when the requests of an application give back their seats. */
class SeatsTest {
  private static final int MIXED = 100;
  private static final int AT_ONCE = 25;

  private static final String[] BY_HEADER = {
    "weir.filters[0].descriptors[0]=seat={header:X-Seat}", "weir.filters[0].missing=skip"
  };

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(Answers.class)
  static class App {}

  /** A controller whose handlers end in different ways. */
  @RestController
  static class Answers {
    @GetMapping("/plain")
    String plain() {
      return "plain";
    }

    @GetMapping("/thrown")
    String thrown() {
      throw new IllegalStateException("thrown by the test");
    }

    @GetMapping("/callable")
    Callable<String> callable() {
      return () -> "called";
    }

    @GetMapping("/deferred")
    DeferredResult<String> deferred() {
      DeferredResult<String> result = new DeferredResult<>();
      CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> result.setResult("late"));
      return result;
    }

    @GetMapping("/timeout")
    DeferredResult<String> timeout() {
      return new DeferredResult<>(50L);
    }

    @GetMapping("/events")
    SseEmitter events() {
      SseEmitter events = new SseEmitter();
      CompletableFuture<Void> unused =
          CompletableFuture.runAsync(
              () -> {
                try {
                  events.send("one");
                  events.complete();
                } catch (IOException e) {
                  events.completeWithError(e);
                }
              });
      return events;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import(ReactiveAnswers.class)
  static class ReactiveApp {}

  /** The same of WebFlux. */
  @RestController
  static class ReactiveAnswers {
    @GetMapping("/plain")
    Mono<String> plain() {
      return Mono.just("plain");
    }

    @GetMapping("/thrown")
    Mono<String> thrown() {
      throw new IllegalStateException("thrown by the test");
    }

    @GetMapping("/failed")
    Mono<String> failed() {
      return Mono.error(new IllegalStateException("failed by the test"));
    }

    @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> events() {
      return Flux.just("one", "two", "three");
    }

    @GetMapping(path = "/open", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
    Flux<String> open() {
      return Flux.concat(Flux.just("one"), Flux.never());
    }

    @GetMapping("/silent")
    Mono<String> silent() {
      return Mono.never();
    }
  }

  private static Site servlets() {
    return Site.start(
        Site.TOMCAT,
        new Class<?>[] {App.class, Site.Limits.class, ServletWebTest.Open.class},
        BY_HEADER);
  }

  private static Site webFlux() {
    List<String> properties = new ArrayList<>(List.of(BY_HEADER));
    properties.add(Site.REACTIVE);
    return Site.start(
        Site.NETTY,
        new Class<?>[] {ReactiveApp.class, Site.Limits.class, ReactiveWebTest.Open.class},
        properties.toArray(String[]::new));
  }

  private static long free(Site site, String seat) {
    AtomicLong free = new AtomicLong(-1);
    site.bean(Decider.class)
        .peek(
            Request.of("shop", "seat", seat),
            answer ->
                free.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return free.get();
  }

  private static void awaitFree(Site site, String seat, long free) {
    while (free(site, seat) != free) {
      Thread.onSpinWait();
    }
  }

  private static void assertGivenBack(Site site, String... paths) {
    for (String path : paths) {
      for (int i = 0; i < 3; i++) {
        assertThat(site.status(path, "X-Seat", path)).as(path).isNotEqualTo(429);
        awaitFree(site, path, 2);
      }
    }
    for (int sent = 0; sent < MIXED; sent += AT_ONCE) {
      List<CompletableFuture<?>> answers = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        CompletableFuture<?> answer =
            site.send("GET", paths[(sent + i) % paths.length], "X-Seat", "mixed");
        if (i % 5 == 4) {
          answer.cancel(true);
        } else {
          answers.add(answer);
        }
      }
      answers.forEach(CompletableFuture::join);
    }
    awaitFree(site, "mixed", 2);
  }

  private static Socket open(Site site, String path, String seat) throws IOException {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), site.port());
    String head = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Seat: " + seat + "\r\n\r\n";
    client.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
    return client;
  }

  @Test
  void servletRequestHasEnded_seatIsGivenBack() {
    try (Site site = servlets()) {
      assertGivenBack(
          site, "/plain", "/thrown", "/callable", "/deferred", "/timeout", "/events", "/nowhere");
    }
  }

  @Test
  void webFluxRequestHasEnded_seatIsGivenBack() {
    try (Site site = webFlux()) {
      assertGivenBack(site, "/plain", "/thrown", "/failed", "/events", "/nowhere");
    }
  }

  /** WebFlux cancels the request of a client that leaves, whether its answer has begun or not. */
  @Test
  void webFluxClientLeaves_seatIsGivenBackThen() throws IOException {
    try (Site site = webFlux()) {
      for (String path : List.of("/open", "/silent")) {
        Socket one = open(site, path, path);
        awaitFree(site, path, 1);
        Socket two = open(site, path, path);
        awaitFree(site, path, 0);
        while (site.ticker().scheduled() < 2) {
          Thread.onSpinWait(); // Both will be renewed.
        }
        for (int i = 0; i < 6; i++) {
          site.ticker().advance(10_000_000_000L); // It is renewed each third of 30 seconds.
        }
        assertThat(site.status("/plain", "X-Seat", path)).isEqualTo(429);
        one.close();
        awaitFree(site, path, 1);
        two.close();
        awaitFree(site, path, 2);
      }
    }
  }
}
