package dev.weir.vertx;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.http.EventLoopContract;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.ClientAddress;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.ext.auth.User;
import io.vertx.ext.auth.authentication.UsernamePasswordCredentials;
import io.vertx.ext.web.AllowForwardHeaders;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.BasicAuthHandler;
import io.vertx.ext.web.handler.BodyHandler;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateLimitHandlerTest extends EventLoopContract {
  private final AtomicLong gone = new AtomicLong();
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
  protected Served serve(List<RequestLimiter> limiters) {
    Vertx vertx = Vertx.vertx();
    Router router = Router.router(vertx);
    router.allowForward(forwarded);
    router
        .route()
        .handler(
            routing -> {
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
  void routerBelievesHeaders_limiterDoesNot() throws Exception {
    forwarded = AllowForwardHeaders.ALL;
    start(limiter(engine(new MemoryStore())).descriptor("one={ip}").build());
    assertThat(send(request("/hello").header("X-Forwarded-For", "6.6.6.6")).statusCode())
        .isEqualTo(200);
    assertThat(send(request("/hello").header("X-Forwarded-For", "7.7.7.7")).statusCode())
        .isEqualTo(429);
  }

  @Test
  void unixSocket_isTrustedOnlyIfSaidSo(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("weir.sock");
    address = SocketAddress.domainSocketAddress(socket.toString());
    ClientAddress behindProxy =
        ClientAddress.builder().trustUnixSocket(true).header("X-Forwarded-For").build();
    Served served =
        serve(
            List.of(
                limiter(engine(new MemoryStore()))
                    .descriptor("one={ip}")
                    .address(behindProxy)
                    .build(),
                limiter(engine(new MemoryStore())).descriptor("ip={ip}").build()));
    try {
      assertThat(statusLine(socket, "203.0.113.7")).contains("200");
      assertThat(statusLine(socket, "203.0.113.7")).contains("429");
      assertThat(statusLine(socket, "203.0.113.8")).contains("200");
      assertThat(statusLine(socket, "203.0.113.9"))
          .as("the second limiter does not trust the socket")
          .contains("429");
    } finally {
      served.server().close();
    }
  }

  private static String statusLine(Path socket, String forwardedFor) throws Exception {
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      String request =
          "GET /hello HTTP/1.1\r\nHost: weir\r\nConnection: close\r\nX-Forwarded-For: "
              + forwardedFor
              + "\r\n\r\n";
      channel.write(ByteBuffer.wrap(request.getBytes(US_ASCII)));
      String answer = new String(Channels.newInputStream(channel).readAllBytes(), US_ASCII);
      return answer.lines().findFirst().orElse("");
    }
  }
}
