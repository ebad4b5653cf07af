package dev.weir.vertx;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.http.EventLoopContract;
import dev.weir.http.RequestLimiter;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.auth.User;
import io.vertx.ext.auth.authentication.UsernamePasswordCredentials;
import io.vertx.ext.web.AllowForwardHeaders;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BasicAuthHandler;
import io.vertx.ext.web.handler.BodyHandler;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class RateLimitHandlerTest extends EventLoopContract {
  private final AtomicLong gone = new AtomicLong();
  private final AtomicReference<RoutingContext> watched = new AtomicReference<>();
  private AllowForwardHeaders forwarded = AllowForwardHeaders.NONE;
  private SocketAddress address = SocketAddress.inetSocketAddress(0, "127.0.0.1");

  @Override
  protected long gone() {
    return gone.get();
  }

  private static <T> T await(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }

  @Override
  protected void listenOn(Path socket) {
    address = SocketAddress.domainSocketAddress(socket.toString());
  }

  @Override
  protected Served serve(List<RequestLimiter> limiters) {
    Vertx vertx = Vertx.vertx();
    Router router = Router.router(vertx);
    router.allowForward(forwarded);
    router
        .route()
        .handler(
            routing -> {
              watched.set(routing);
              routing.addEndHandler(
                  end -> {
                    if (end.failed()) {
                      gone.incrementAndGet();
                    }
                  });
              routing.next();
            });
    BasicAuthHandler basic =
        BasicAuthHandler.create(
            credentials ->
                Future.succeededFuture(
                    User.fromName(((UsernamePasswordCredentials) credentials).getUsername())));
    router
        .route()
        .handler(
            routing -> {
              if (routing.request().getHeader("Authorization") == null) {
                routing.next();
              } else {
                basic.handle(routing);
              }
            });
    for (RequestLimiter limiter : limiters) {
      RateLimitHandler handler = RateLimitHandler.of(limiter);
      router.route("/users/:id").handler(handler);
      router.route().handler(handler);
    }
    router.get("/hello").handler(routing -> routing.end("hello"));
    router.get("/health").handler(routing -> routing.end("fine"));
    router.get("/users/:id").handler(routing -> routing.end(routing.pathParam("id")));
    router
        .get("/events")
        .handler(routing -> routing.response().setChunked(true).write("data: x\n\n"));
    router.get("/silent").handler(routing -> {});
    router
        .get("/broken")
        .handler(
            routing -> {
              throw new IllegalStateException("broken");
            });
    router.get("/moved").handler(routing -> routing.reroute("/hello"));
    router.route().handler(BodyHandler.create(false));
    router.post("/echo").handler(routing -> routing.end(routing.body().buffer()));
    router
        .post("/login")
        .handler(
            routing -> {
              boolean wrong = "wrong".equals(routing.body().asString());
              routing.response().setStatusCode(wrong ? 401 : 200).end();
            });
    router
        .post("/form")
        .handler(
            routing -> {
              String body = routing.body().asString();
              if ("counted".equals(body)) {
                RateLimitHandler.count(routing);
              } else if ("costs".equals(body)) {
                RateLimitHandler.charge(routing, 5);
              }
              routing
                  .response()
                  .setStatusCode(302)
                  .putHeader("Location", "wrong".equals(body) ? "/form?error" : "/")
                  .end();
            });
    HttpServerOptions options =
        new HttpServerOptions().setHttp2RstFloodMaxRstFramePerWindow(1_000_000);
    HttpServer server = vertx.createHttpServer(options).requestHandler(router);
    await(server.listen(address));
    return new Served(server.actualPort(), () -> await(vertx.close()));
  }

  @Test
  void rerouted_isCountedOnce_andKeepsItsFields() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("ip={ip}").build());
    assertThat(get("/moved").headers().allValues("RateLimit")).hasSize(1);
    assertThat(engine.metrics().requests()).isEqualTo(1);
  }

  @Test
  void rerouted_givesItsSeatBackOnce() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("seat={ip}").build());
    for (int i = 0; i < 4; i++) {
      assertThat(get("/moved").statusCode()).isEqualTo(200);
      until(() -> left(engine, "seat") == 2);
    }
    assertThat(engine.seats().metrics().lost()).isZero();
  }

  @Test
  void anotherHandlerAnswersWhileAnUploadWaits_connectionGoesOn() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    try (Socket client = connect()) {
      BufferedReader answers =
          new BufferedReader(new InputStreamReader(client.getInputStream(), US_ASCII));
      String head = "POST /echo HTTP/1.1\r\nHost: weir\r\nContent-Length: 1000000\r\n\r\n";
      client.getOutputStream().write(head.getBytes(US_ASCII));
      client.getOutputStream().write(new byte[1_000_000]);
      until(() -> engine.metrics().queues().waiting() == 1);
      RoutingContext routing = Objects.requireNonNull(watched.get());
      routing.vertx().runOnContext(run -> routing.response().setStatusCode(504).end("late"));
      assertThat(answers.readLine()).contains("504");
      client
          .getOutputStream()
          .write("GET /nowhere HTTP/1.1\r\nHost: weir\r\n\r\n".getBytes(US_ASCII));
      until(() -> engine.metrics().queues().left() == 1);
      until(() -> engine.metrics().queues().waiting() == 1);
      ticker.advance(1_000_000_000L);
      assertThat(answers.lines().filter(line -> line.contains("HTTP/1.1 404")).findFirst())
          .isPresent();
    }
  }

  @Test
  void routerBelievesHeaders_limiterDoesNot() throws Exception {
    forwarded = AllowForwardHeaders.ALL;
    start(limiter(engine(new MemoryStore())).descriptor("one={ip}").build());
    assertThat(send(request("/hello").header("X-Forwarded-For", "6.6.6.6")).statusCode())
        .isEqualTo(200);
    assertThat(send(request("/hello").header("X-Forwarded-For", "7.7.7.7")).statusCode())
        .isEqualTo(429);
  }
}
