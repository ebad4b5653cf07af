package dev.weir.spring.test.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Decider;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.web.server.MockServerWebExchange;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Tests of a store that answers late, behind an application of Spring WebFlux. */
class LateStoreTest {
  /** A number of requests above that of the event loop's threads. */
  private static final int MANY = 200;

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import({ReactiveWebTest.Open.class, Pages.class, Threads.class})
  static class App {
    @Bean
    FakeTicker ticker() {
      return new FakeTicker();
    }

    @Bean
    LateStore store() {
      return new LateStore();
    }

    @Bean
    Decider decider(FakeTicker ticker, LateStore store) {
      return Site.engine(ticker, store);
    }
  }

  @RestController
  static class Threads {
    @GetMapping("/thread")
    Mono<String> thread() {
      return Mono.fromSupplier(() -> Thread.currentThread().getName());
    }
  }

  private static Site start(String... properties) {
    String[] all = new String[properties.length + 1];
    all[0] = Site.REACTIVE;
    System.arraycopy(properties, 0, all, 1, properties.length);
    return Site.start(Site.NETTY, new Class<?>[] {App.class}, all);
  }

  private static void awaitDue(LateStore store, int due) {
    while (store.due() < due) {
      Thread.onSpinWait();
    }
  }

  @Test
  void manyAnswersAreLate_theEventLoopServesOthers() {
    try (Site site = start("weir.filters[0].exempt=/other")) {
      LateStore store = site.bean(LateStore.class);
      List<CompletableFuture<HttpResponse<String>>> late = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        late.add(site.send("GET", "/page"));
      }
      awaitDue(store, MANY);
      // All threads of the loop would be blocked by now.
      for (int i = 0; i < MANY; i++) {
        assertThat(site.status("/other")).isEqualTo(200);
      }
      assertThat(late).noneMatch(CompletableFuture::isDone);
      while (!late.stream().allMatch(CompletableFuture::isDone)) {
        int unused = store.answer();
      }
      assertThat(late.stream().filter(each -> each.join().statusCode() == 200)).hasSize(2);
      assertThat(late.stream().filter(each -> each.join().statusCode() == 429)).hasSize(MANY - 2);
    }
  }

  @Test
  void lateAnswer_applicationDoesNotRunOnTheThreadOfTheStore() {
    try (Site site = start()) {
      LateStore store = site.bean(LateStore.class);
      CompletableFuture<HttpResponse<String>> late = site.send("GET", "/thread");
      awaitDue(store, 1);
      int unused = store.answer();
      assertThat(late.join().body()).startsWith("parallel-");
    }
  }

  @Test
  void cancelledBeforeTheAnswer_isGivenBackOnce() {
    try (Site site = start()) {
      LateStore store = site.bean(LateStore.class);
      WebFilter filter = site.bean("weirFilter0", WebFilter.class);
      for (int i = 0; i < 10_000; i++) {
        Disposable request = filter.filter(exchange(), any -> Mono.never()).subscribe();
        awaitDue(store, 1);
        request.dispose();
        while (store.due() > 0) { // The answer, and then the answer of the refund.
          int unused = store.answer();
        }
      }
      assertThat(statusOf(filter, store)).isEqualTo(HttpStatus.NO_CONTENT);
      assertThat(statusOf(filter, store)).isEqualTo(HttpStatus.NO_CONTENT);
      assertThat(statusOf(filter, store)).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
    }
  }

  @Test
  void cancelledAfterTheChainWasCalled_staysCharged() {
    try (Site site = start()) {
      LateStore store = site.bean(LateStore.class);
      WebFilter filter = site.bean("weirFilter0", WebFilter.class);
      for (int i = 0; i < 2; i++) {
        CompletableFuture<Void> called = new CompletableFuture<>();
        Disposable request =
            filter
                .filter(
                    exchange(),
                    any -> {
                      called.complete(null);
                      return Mono.never();
                    })
                .subscribe();
        int unused = store.answer();
        called.join();
        request.dispose();
        assertThat(store.due()).isZero();
      }
      assertThat(statusOf(filter, store)).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
    }
  }

  private static ServerWebExchange exchange() {
    return MockServerWebExchange.from(MockServerHttpRequest.get("/page"));
  }

  private static @Nullable HttpStatusCode statusOf(WebFilter filter, LateStore store) {
    ServerWebExchange exchange = exchange();
    CompletableFuture<Void> done =
        filter
            .filter(
                exchange,
                each -> {
                  each.getResponse().setStatusCode(HttpStatus.NO_CONTENT);
                  return each.getResponse().setComplete();
                })
            .toFuture();
    int unused = store.answer();
    done.join();
    return exchange.getResponse().getStatusCode();
  }
}
