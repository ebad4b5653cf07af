package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.http.RequestLimiter;
import dev.weir.identity.MissingValue;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of waiting requests in every container. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class QueueContract {
  private static final int CROWD = 500;

  /** The time after which one more request of a key is admitted. */
  private static final Duration TURN = Duration.ofMillis(1);

  final Limits limits = new Limits();
  final HttpClient client = HttpClient.newHttpClient();
  private final App app = new App();
  private Container container;

  /** Starts the container. */
  abstract Container start(Site site);

  @BeforeAll
  void startContainer() {
    container = start(site(limits, app, new WaitingFilter(2)));
  }

  @AfterAll
  void stopContainer() {
    container.close();
    limits.close();
  }

  @AfterEach
  void nobodyWaitsAnyMore() {
    assertThat(limits.waiting()).isZero();
  }

  /** Returns an application with authentication between the two filters. */
  static Site site(Limits limits, App app, WaitingFilter waiting) {
    RequestLimiter limiter =
        limits.limiter("turn={header:X-Turn}").missing(MissingValue.SKIP).build();
    RequestLimiter kinds =
        limits.limiter("kind={header:X-Kind}").missing(MissingValue.SKIP).build();
    Filter security =
        (request, response, chain) -> {
          if ("wrong".equals(((HttpServletRequest) request).getHeader("X-Password"))) {
            ((HttpServletResponse) response).sendError(HttpServletResponse.SC_UNAUTHORIZED);
          } else {
            chain.doFilter(new Authenticated((HttpServletRequest) request), response);
          }
        };
    return new Site(app)
        .everywhere(RateLimitFilter.builder(limiter).waiting(waiting).build())
        .filter(security)
        .filter(RateLimitFilter.of(kinds))
        .filter(waiting);
  }

  private static final class Authenticated extends HttpServletRequestWrapper {
    Authenticated(HttpServletRequest request) {
      super(request);
    }

    @Override
    public Principal getUserPrincipal() {
      return new Principal() {
        @Override
        public String getName() {
          return "alice";
        }

        @Override
        public String toString() {
          return "alice";
        }
      };
    }
  }

  HttpRequest.Builder request(int port, String target, String turn) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + target))
        .version(HttpClient.Version.HTTP_1_1)
        .header("X-Turn", turn);
  }

  CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
    return client.sendAsync(request.build(), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> get(String target, String turn) {
    return send(request(container.port(), target, turn));
  }

  static HttpResponse<String> answer(CompletableFuture<HttpResponse<String>> response)
      throws Exception {
    return response.get(60, TimeUnit.SECONDS);
  }

  @Test
  void fiveHundredWait_tenThreadsStayFree() throws Exception {
    limits.use("turn", "crowd");
    List<CompletableFuture<HttpResponse<String>>> crowd = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      crowd.add(get("/app/ok", "crowd"));
    }
    limits.awaitWaiting(CROWD);
    assertThat(Raw.send(container.port(), "GET /app/ok").status()).isEqualTo(200);
    while (limits.waiting() > 0) {
      limits.advance(TURN);
    }
    for (CompletableFuture<HttpResponse<String>> each : crowd) {
      HttpResponse<String> served = answer(each);
      assertThat(served.statusCode()).isEqualTo(200);
      assertThat(served.body()).isEqualTo("/app/ok");
      assertThat(served.headers().allValues("RateLimit")).hasSize(1);
    }
  }

  @Test
  void order_isThatOfArrival() throws Exception {
    limits.use("turn", "order");
    List<String> expected = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      CompletableFuture<?> unused = get("/app/ok?n=" + i, "order");
      limits.awaitWaiting(i);
    }
    for (int i = 1; i <= 5; i++) {
      limits.advance(TURN);
      expected.add(Integer.toString(i));
      int served = i;
      limits.advanceUntil(Duration.ZERO, () -> app.served.size() == served);
    }
    assertThat(app.served).containsExactlyElementsOf(expected);
  }

  /** Sends a request that waits for one turn, and returns its answer. */
  private HttpResponse<String> waited(HttpRequest.Builder request, String turn) throws Exception {
    limits.use("turn", turn);
    CompletableFuture<HttpResponse<String>> response = send(request);
    limits.awaitWaiting(1);
    limits.advanceUntil(TURN, response::isDone);
    return answer(response);
  }

  @Test
  void body_isThereAfterTheWait() throws Exception {
    HttpRequest.Builder post =
        request(container.port(), "/app/body", "body")
            .POST(BodyPublishers.ofString("x".repeat(100_000)));
    assertThat(waited(post, "body").body()).isEqualTo("100000");
  }

  @Test
  void principal_isThereAfterTheWait() throws Exception {
    HttpRequest.Builder get = request(container.port(), "/app/whoami", "principal");
    assertThat(waited(get, "principal").body()).isEqualTo("alice");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/app/async", "/app/events", "/app/forward", "/app/path%20x/a;v=1?b=%2F"})
  void servlet_worksAfterTheWait(String target) throws Exception {
    HttpResponse<String> direct = answer(get(target, "direct " + target));
    HttpResponse<String> late =
        waited(request(container.port(), target, "late " + target), "late " + target);
    assertThat(late.statusCode()).isEqualTo(200);
    assertThat(late.body()).isEqualTo(direct.body());
  }

  @Test
  void unauthorised_leavesTheQueueAndIsNotCharged() throws Exception {
    long left = limits.engine.metrics().queues().left();
    limits.use("turn", "unauthorised");
    HttpRequest.Builder wrong =
        request(container.port(), "/app/ok", "unauthorised").header("X-Password", "wrong");
    assertThat(answer(send(wrong)).statusCode()).isEqualTo(401);
    Awaiting.until(() -> limits.waiting() == 0, () -> "waits");
    assertThat(limits.engine.metrics().queues().left()).isEqualTo(left + 1);
    limits.advance(TURN);
    limits.use("turn", "unauthorised");
  }

  @Test
  void clientGone_queueGoesOn() throws Exception {
    limits.use("turn", "gone");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), container.port())) {
      OutputStream out = socket.getOutputStream();
      String head = Raw.head("GET /app/ok", "X-Turn: gone");
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
      out.flush();
      limits.awaitWaiting(1);
    }
    CompletableFuture<HttpResponse<String>> next = get("/app/ok", "gone");
    limits.advanceUntil(TURN, next::isDone);
    assertThat(answer(next).statusCode()).isEqualTo(200);
  }

  @Test
  void refusedLate_isAnsweredProperly() throws Exception {
    Limits own = new Limits();
    try (Container other = start(site(own, new App(), new WaitingFilter()))) {
      own.use("turn", "late");
      CompletableFuture<HttpResponse<String>> response =
          send(request(other.port(), "/app/ok", "late").header("X-Kind", "late"));
      own.awaitWaiting(1);
      Awaiting.until(() -> own.used("kind", "late") == 1, () -> "not charged");
      own.engine.close(); // This answers all waiting requests with their refusal.
      HttpResponse<String> refused = answer(response);
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.body()).contains("quota-exceeded");
      assertThat(refused.headers().firstValue("Retry-After")).contains("1");
      assertThat(refused.headers().firstValue("Content-Type")).contains("application/problem+json");
      assertThat(own.used("kind", "late")).as("given back").isZero();
    }
  }

  @Test
  void asynchronousUnsupported_fewThreadsBlockAndTheRestIsRefused() throws Exception {
    Limits own = new Limits();
    try (Container other = start(site(own, new App(), new WaitingFilter(2)).async(false))) {
      own.use("turn", "block");
      List<CompletableFuture<HttpResponse<String>>> three = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        three.add(send(request(other.port(), "/app/ok", "block")));
      }
      Awaiting.until(() -> three.stream().anyMatch(CompletableFuture::isDone), () -> "all wait");
      own.awaitWaiting(2);
      own.advanceUntil(TURN, () -> three.stream().allMatch(CompletableFuture::isDone));
      List<Integer> statuses = new ArrayList<>();
      for (CompletableFuture<HttpResponse<String>> each : three) {
        statuses.add(answer(each).statusCode());
      }
      assertThat(statuses).containsExactlyInAnyOrder(200, 200, 429);
    }
    own.close();
  }

  @Test
  void waitingFilterUnregistered_refusedAtOnce() throws IOException {
    limits.use("turn", "unregistered");
    RequestLimiter limiter = limits.limiter("turn={header:X-Turn}").build();
    RateLimitFilter filter = RateLimitFilter.builder(limiter).waiting(new WaitingFilter()).build();
    try (Container other = start(new Site(new App()).filter(filter))) {
      assertThat(Raw.send(other.port(), "GET /app/ok", "X-Turn: unregistered").status())
          .isEqualTo(429);
    }
  }
}
