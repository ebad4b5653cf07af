package dev.weir.armeria;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.common.HttpResponseWriter;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.common.MediaType;
import com.linecorp.armeria.common.ResponseHeaders;
import com.linecorp.armeria.common.auth.BasicToken;
import com.linecorp.armeria.common.util.DomainSocketAddress;
import com.linecorp.armeria.common.util.TimeoutMode;
import com.linecorp.armeria.server.HttpService;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.ServerBuilder;
import com.linecorp.armeria.server.ServiceRequestContext;
import com.linecorp.armeria.server.auth.AuthTokenExtractors;
import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.http.EventLoopContract;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.Source;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RateLimitServiceTest extends EventLoopContract {
  private static final String HURRY = "hurry";

  private final AtomicLong gone = new AtomicLong();
  private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  @Override
  protected long gone() {
    return gone.get();
  }

  @Override
  protected void listenOn(Path socket) {
    address = DomainSocketAddress.of(socket);
  }

  @Override
  protected Served serve(List<RequestLimiter> limiters) {
    ServerBuilder builder =
        Server.builder()
            .http(address)
            .requestTimeout(Duration.ofMinutes(1))
            .http2MaxResetFramesPerWindow(1_000_000, 60)
            .service("/hello", (context, request) -> text("hello"))
            .service("/health", (context, request) -> text("fine"))
            .service("/users/{id}", (context, request) -> text("user"))
            .service(
                "/events",
                (context, request) -> {
                  HttpResponseWriter events = HttpResponse.streaming();
                  events.write(ResponseHeaders.of(HttpStatus.OK));
                  events.write(HttpData.ofUtf8("data: x\n\n"));
                  return events;
                })
            .service("/silent", (context, request) -> HttpResponse.streaming())
            .service(
                "/broken",
                (context, request) -> {
                  throw new IllegalStateException("broken");
                })
            .service(
                "/echo",
                (context, request) ->
                    HttpResponse.of(
                        request
                            .aggregate()
                            .thenApply(
                                whole ->
                                    HttpResponse.of(
                                        HttpStatus.OK, MediaType.OCTET_STREAM, whole.content()))))
            .service(
                "/form",
                (context, request) ->
                    HttpResponse.of(
                        request
                            .aggregate()
                            .thenApply(
                                whole -> {
                                  if (whole.contentUtf8().equals("counted")) {
                                    RateLimitService.count(context);
                                  } else if (whole.contentUtf8().equals("costs")) {
                                    RateLimitService.charge(context, 5);
                                  }
                                  boolean wrong = whole.contentUtf8().equals("wrong");
                                  return HttpResponse.ofRedirect(
                                      HttpStatus.FOUND, wrong ? "/form?error" : "/");
                                })))
            .service(
                "/login",
                (context, request) ->
                    HttpResponse.of(
                        request
                            .aggregate()
                            .thenApply(
                                whole ->
                                    HttpResponse.of(
                                        whole.contentUtf8().equals("wrong")
                                            ? HttpStatus.UNAUTHORIZED
                                            : HttpStatus.OK))));
    builder.decorator(service -> watched(hurried(limited(service, limiters))));
    Server server = builder.build();
    server.start().join();
    boolean unix = address instanceof DomainSocketAddress;
    // The threads that accept take two quiet seconds to end, which no test waits for.
    return new Served(
        unix ? 0 : server.activeLocalPort(),
        () -> {
          CompletableFuture<Void> unused = server.stop();
        });
  }

  /** Returns a service whose requests time out soon if they have a certain field. */
  private static HttpService hurried(HttpService service) {
    return (context, request) -> {
      if (request.headers().contains(HURRY)) {
        context.setRequestTimeout(TimeoutMode.SET_FROM_NOW, Duration.ofMillis(200));
      }
      return service.serve(context, request);
    };
  }

  private HttpService watched(HttpService service) {
    return (context, request) -> {
      HttpResponse response = service.serve(context, request);
      CompletableFuture<@Nullable Void> unused =
          response
              .whenComplete()
              .whenComplete(
                  (nothing, cause) -> {
                    if (cause != null) {
                      gone.incrementAndGet();
                    }
                  });
      return response;
    };
  }

  private static HttpService limited(HttpService service, List<RequestLimiter> limiters) {
    HttpService limited = service;
    for (int i = limiters.size() - 1; i >= 0; i--) {
      RequestLimiter limiter = limiters.get(i);
      Function<? super HttpService, RateLimitService> decorator =
          limiter.uses(Source.LOGIN)
              ? RateLimitService.newDecorator(limiter, RateLimitServiceTest::user)
              : RateLimitService.newDecorator(limiter);
      limited = decorator.apply(limited);
    }
    return limited;
  }

  private static @Nullable String user(ServiceRequestContext context) {
    BasicToken token = AuthTokenExtractors.basic().apply(context.request().headers());
    return token == null ? null : token.username();
  }

  private static HttpResponse text(String text) {
    return HttpResponse.of(HttpStatus.OK, MediaType.PLAIN_TEXT_UTF_8, HttpData.ofUtf8(text));
  }

  @Test
  void loginWithoutAFunction_isRefused() {
    RequestLimiter limiter = limiter(engine(new MemoryStore())).descriptor("one={login}").build();
    assertThatThrownBy(() -> RateLimitService.newDecorator(limiter))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("descriptor: {login} (expected: a function");
  }

  @Test
  void serviceFails_itsAnswerCountsAsAnyOther() throws Exception {
    start(limiter(engine(new MemoryStore())).descriptor("one={ip}").refundUnless(500).build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    assertThat(get("/broken").statusCode()).isEqualTo(500);
    assertThat(get("/hello").statusCode()).isEqualTo(429);
  }

  @Test
  void requestTimesOutWhileItWaits_leavesTheQueue() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    assertThat(send(request("/hello").header(HURRY, "yes")).statusCode()).isEqualTo(503);
    until(() -> engine.metrics().queues().left() == 1);
    ticker.advance(1_000_000_000L);
    assertThat(get("/hello").statusCode()).as("it was not charged").isEqualTo(200);
  }
}
