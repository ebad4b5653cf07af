package dev.weir.jaxrs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.http.MiddlewareContract;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.Source;
import dev.weir.testkit.LateStore;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.ext.RuntimeDelegate;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.glassfish.jersey.server.ResourceConfig;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RateLimitFeatureTest extends MiddlewareContract {
  /** The address of the connection whose request a thread handles. */
  private static final ThreadLocal<String> PEER = new ThreadLocal<>();

  private static final Semaphore ENDS = new Semaphore(0);

  /**
   * The priority before limiters that use the login: the value of {@code
   * Priorities.AUTHENTICATION}.
   */
  private static final int AUTHENTICATION = 1000;

  private RateLimitFeature.Builder feature = RateLimitFeature.builder().peer(request -> PEER.get());

  /** The application. */
  @Path("/")
  public static final class Application {
    @GET
    @Path("hello")
    public String hello() {
      return "hello";
    }

    @GET
    @Path("health")
    public String health() {
      return "fine";
    }

    @GET
    @Path("broken")
    public String broken(@QueryParam("fine") String fine) {
      if (fine == null) {
        throw new IllegalStateException("broken");
      }
      return fine;
    }

    @POST
    @Path("echo")
    public byte[] echo(byte[] body) {
      return body;
    }

    @POST
    @Path("login")
    public Response login(String body) {
      return Response.status(body.equals("wrong") ? 401 : 200).build();
    }

    @POST
    @Path("form")
    public Response form(String body, @Context ContainerRequestContext request) {
      if (body.equals("counted")) {
        RateLimitFeature.count(request);
      } else if (body.equals("costs")) {
        RateLimitFeature.charge(request, 5);
      }
      return Response.status(302)
          .header("Location", body.equals("wrong") ? "/form?error" : "/")
          .build();
    }

    @GET
    @Path("stream")
    public StreamingOutput stream(@Context ContainerRequestContext request) {
      return out -> {
        out.write("a".getBytes(UTF_8));
        RateLimitFeature.charge(request, 5);
      };
    }

    @GET
    @Path("long")
    public StreamingOutput longBody() {
      return out -> {
        out.write("a".getBytes(UTF_8));
        out.flush();
        ENDS.acquireUninterruptibly();
      };
    }

    @Path("located")
    public Located located() {
      return new Located();
    }
  }

  /** Resources with a path of their own. */
  @Path("users")
  public static final class Users {
    @GET
    @Path("{id}")
    public String user(@PathParam("id") String id) {
      return id;
    }
  }

  /** A resource that another one locates. */
  public static final class Located {
    @GET
    public String located() {
      return "located";
    }
  }

  /** A filter that takes the name in a request for that of its user. */
  static final class Authentication implements ContainerRequestFilter {
    @Override
    public void filter(ContainerRequestContext request) {
      String header = request.getHeaderString("Authorization");
      if (header != null) {
        String pair =
            new String(Base64.getDecoder().decode(header.substring("Basic ".length())), UTF_8);
        request.setSecurityContext(new Authenticated(pair.substring(0, pair.indexOf(':'))));
      }
    }
  }

  private record Authenticated(String name) implements SecurityContext {
    @Override
    public Principal getUserPrincipal() {
      return () -> name;
    }

    @Override
    public boolean isUserInRole(String role) {
      return false;
    }

    @Override
    public boolean isSecure() {
      return false;
    }

    @Override
    public @Nullable String getAuthenticationScheme() {
      return null;
    }
  }

  @Override
  protected Served serve(List<RequestLimiter> limiters) throws Exception {
    for (RequestLimiter limiter : limiters) {
      if (limiter.uses(Source.ROUTE) || limiter.uses(Source.LOGIN)) {
        feature.afterMatching(limiter);
      } else {
        feature.beforeMatching(limiter);
      }
    }
    ResourceConfig config =
        new ResourceConfig(Application.class, Users.class)
            .register(new Authentication(), AUTHENTICATION)
            .register(feature.build());
    HttpHandler handler = RuntimeDelegate.getInstance().createEndpoint(config, HttpHandler.class);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    ExecutorService threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          PEER.set(exchange.getRemoteAddress().getAddress().getHostAddress());
          try {
            handler.handle(exchange);
          } finally {
            PEER.remove();
          }
        });
    server.start();
    return new Served(
        server.getAddress().getPort(),
        () -> {
          server.stop(0);
          threads.shutdownNow();
        });
  }

  @Test
  void bodyIsBeingWritten_seatIsHeldUntilItsEnd() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("seat={ip}").build());
    CompletableFuture<HttpResponse<String>> response = sendAsync(request("/long"));
    until(() -> ticker.scheduled() == 1); // Its seat is taken, and will be renewed.
    for (int i = 0; i < 6; i++) {
      ticker.advance(10_000_000_000L); // It is renewed each third of 30 seconds.
    }
    assertThat(left(engine, "seat")).isEqualTo(1);
    ENDS.release();
    assertThat(response.join().body()).isEqualTo("a");
    until(() -> left(engine, "seat") == 2);
  }

  @Test
  void addressWithoutPeer_isRefused() {
    RequestLimiter limiter = limiter(engine(new MemoryStore())).descriptor("ip={ip}").build();
    assertThatThrownBy(() -> RateLimitFeature.builder().beforeMatching(limiter).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "descriptor: {ip} (expected: peer(...) with it, as JAX-RS does not tell the address"
                + " of a connection)");
  }

  @Test
  void wrongSettings_areRefusedAllAtOnce() {
    RequestLimiter limiter = limiter(engine(new MemoryStore())).descriptor("one={route}").build();
    assertThatThrownBy(
            () ->
                RateLimitFeature.builder()
                    .beforeMatching(limiter)
                    .maxDecision(Duration.ZERO)
                    .maxWaiting(-1)
                    .build())
        .hasMessage(
            """
            descriptor: {route} before matching (expected: after matching)
            maxDecision: PT0S (expected: more than 0)
            maxWaiting: -1 (expected: at least 0)""");
    assertThatThrownBy(() -> RateLimitFeature.builder().build())
        .hasMessage("limiter: none (expected: at least one, before or after matching)");
  }

  @Test
  void costsOfAStream_areReportedWhileItIsWritten() throws Exception {
    start(limiter(engine(new MemoryStore())).descriptor("ip={ip}").costsReported().build());
    assertThat(get("/stream").body()).isEqualTo("a");
    assertThat(get("/stream").statusCode()).isEqualTo(429);
  }

  @Test
  void noThreadMayWait_turnsAreRefusedAtOnce() throws Exception {
    feature.maxWaiting(0);
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    assertThat(get("/hello").statusCode()).isEqualTo(429);
  }

  @Test
  void storeTakesTooLong_unavailable_andNothingStaysCharged() throws Exception {
    LateStore store = new LateStore();
    Engine engine = engine(store);
    feature.maxDecision(Duration.ofMillis(1));
    start(limiter(engine).descriptor("one={ip}").build());
    HttpResponse<String> response = get("/hello");
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
    assertThat(response.body()).contains("\"status\":503");
    assertThat(store.answer()).isEqualTo(1);
    assertThat(store.answer()).as("it is given back").isEqualTo(1);
    feature = RateLimitFeature.builder().peer(request -> PEER.get());
    start(limiter(engine).descriptor("one={ip}").build());
    CompletableFuture<HttpResponse<String>> next = sendAsync(request("/hello"));
    until(() -> store.due() == 1);
    store.answer();
    assertThat(next.join().statusCode()).isEqualTo(200);
  }

  @Test
  void beforeAndAfterMatching_bothLimit() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(
        limiter(engine).descriptor("ip={ip}").build(),
        limiter(engine).descriptor("one={route}").build());
    assertThat(get("/users/1").headers().allValues("RateLimit-Policy").toString())
        .contains("q=2")
        .contains("q=1");
    assertThat(get("/users/2").statusCode()).as("by its route").isEqualTo(429);
    assertThat(get("/users/2").headers().allValues("RateLimit-Policy").toString())
        .as("by its address")
        .contains("q=2")
        .doesNotContain("q=1");
  }

  @Test
  void routeOfTheUser_isTakenInstead() throws Exception {
    feature.route(request -> "/any");
    start(limiter(engine(new MemoryStore())).descriptor("one={route}").build());
    assertThat(get("/located").statusCode()).isEqualTo(200);
    assertThat(get("/hello").statusCode()).isEqualTo(429);
  }
}
