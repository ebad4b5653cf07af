package dev.weir.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.MemoryStore;
import dev.weir.Store;
import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Decider;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.identity.ClientAddress;
import dev.weir.rules.Request;
import dev.weir.rules.RuleSet;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import dev.weir.testkit.LateStore;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of the adapters of all servers, on a real server and with a real client.
 *
 * <p>The application under test has {@code GET /hello} and {@code GET /health}, which answer with a
 * text; {@code GET /users/{id}}; {@code POST /echo}, which answers with the body; and {@code POST
 * /login}, which answers 401 if the body is {@code wrong}, else 200; and {@code POST /form}, which
 * redirects to {@code /form?error} if the body is {@code wrong}, else to {@code /}, and counts the
 * request itself if the body is {@code counted}, or charges it 5 permits if the body is {@code
 * costs}; and {@code GET /broken}, which fails. It treats the user of {@code Authorization: Basic}
 * as authenticated, before the limiters.
 */
@Timeout(120)
public abstract class MiddlewareContract {
  private static final String RULES =
      """
      domain: app
      descriptors:
        - key: ip
          rate_limit: {window: 1m, requests_per_unit: 2, algorithm: fixed-window}
        - key: one
          rate_limit: {window: 1m, requests_per_unit: 1, algorithm: fixed-window}
        - key: many
          rate_limit: {window: 1m, requests_per_unit: 100000, algorithm: fixed-window}
        - key: seat
          rate_limit: {concurrency: 2, hold: 30s}
        - key: line
          rate_limit:
            {concurrency: 1, hold: 30s, on_limit: {queue: {requests: 5, wait: 50s}}}
        - key: turn
          rate_limit:
            window: 1s
            requests_per_unit: 1
            algorithm: fixed-window
            on_limit: {queue: {requests: 1, wait: 50s}}
      """;

  /** A server that listens on the loopback interface. */
  public record Served(int port, AutoCloseable server) {}

  protected final FakeTicker ticker = new FakeTicker(1_700_000_000_000_000_000L);
  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private HttpClient client = HttpClient.newHttpClient();
  private int port;

  /** Starts the application, with the limiters in this order before all of it. */
  protected abstract Served serve(List<RequestLimiter> limiters) throws Exception;

  protected HttpClient.Version version() {
    return HttpClient.Version.HTTP_1_1;
  }

  protected final Engine engine(Store store) {
    Rules.LoadResult loaded = Rules.parse("rules.yaml", RULES);
    assertThat(loaded.problems()).isEmpty();
    RuleSet rules = Objects.requireNonNull(loaded.ruleSet());
    Engine engine = Engine.create(store, ticker, EngineSettings.DEFAULTS);
    engine.apply(rules);
    open.push(engine);
    return engine;
  }

  protected final RequestLimiter.Builder limiter(Decider decider) {
    return RequestLimiter.builder(decider).exempt("/health").ticker(ticker);
  }

  private RequestLimiter ofAddress() {
    return limiter(engine(new MemoryStore())).descriptor("ip={ip}").build();
  }

  protected final void start(RequestLimiter... limiters) throws Exception {
    Served served = serve(List.of(limiters));
    open.push(served.server());
    port = served.port();
    client = HttpClient.newBuilder().version(version()).build();
    assertThat(get("/health").statusCode()).isEqualTo(200);
  }

  @AfterEach
  void closeAll() throws Exception {
    while (!open.isEmpty()) {
      open.pop().close();
    }
  }

  /** Waits for a condition that another thread fulfils. */
  protected static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  /** Opens a connection to the server. */
  protected final Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), port);
  }

  protected final HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
  }

  protected final HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  protected final CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest.Builder request) {
    return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  protected final HttpResponse<String> get(String path) throws Exception {
    return send(request(path));
  }

  private HttpResponse<String> post(String path, String body) throws Exception {
    return send(request(path).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  private int statusFrom(String forwardedFor) throws Exception {
    return send(request("/hello").header("X-Forwarded-For", forwardedFor)).statusCode();
  }

  private static void assertFields(HttpResponse<?> response, Verdict expected) {
    Map<String, List<String>> fields = new TreeMap<>();
    expected.fields(
        (name, value) -> fields.computeIfAbsent(name, first -> new ArrayList<>()).add(value));
    assertThat(fields).containsKey("RateLimit");
    fields.forEach(
        (name, values) ->
            assertThat(response.headers().allValues(name)).as(name).isEqualTo(values));
  }

  /** Returns the verdict of the same limiter on the n-th request, without a server. */
  private Verdict expected(int requests, String method, String accept) {
    RequestLimiter twin = ofAddress();
    List<Verdict> verdicts = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      twin.decide(new PlainRequest("127.0.0.1", method, "/hello", accept), verdicts::add);
    }
    return verdicts.get(requests - 1);
  }

  @Test
  void withinLimit_answerHasTheLimitersFields() throws Exception {
    start(ofAddress());
    HttpResponse<String> response = get("/hello");
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.version()).isEqualTo(version());
    assertThat(response.body()).isEqualTo("hello");
    assertFields(response, expected(1, "GET", "*/*"));
  }

  @Test
  void beyondLimit_answerHasTheLimitersBytes() throws Exception {
    start(ofAddress());
    get("/hello");
    get("/hello");
    for (String accept : List.of("*/*", "text/plain", "text/html")) {
      HttpResponse<byte[]> response =
          client.send(
              request("/hello").header("Accept", accept).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      Verdict expected = expected(3, "GET", accept);
      assertThat(response.statusCode()).isEqualTo(429);
      assertFields(response, expected);
      Refusal refusal = expected.refusal();
      assertThat(response.headers().firstValue("Content-Type").orElseThrow())
          .isEqualToIgnoringWhitespace(refusal.contentType());
      assertThat(response.body()).isEqualTo(refusal.bytes());
    }
  }

  @Test
  void beyondLimit_headHasNoBody() throws Exception {
    start(ofAddress());
    get("/hello");
    get("/hello");
    HttpRequest.Builder head =
        request("/hello").method("HEAD", HttpRequest.BodyPublishers.noBody());
    HttpResponse<String> response = send(head);
    assertThat(response.statusCode()).isEqualTo(429);
    assertThat(response.body()).isEmpty();
    assertFields(response, expected(3, "HEAD", "*/*"));
    assertThat(send(head).statusCode()).as("the connection can be used on").isEqualTo(429);
  }

  @Test
  void unknownPath_isCounted() throws Exception {
    start(ofAddress());
    assertThat(get("/nowhere").statusCode()).isEqualTo(404);
    assertThat(get("/nowhere").statusCode()).isEqualTo(404);
    assertThat(get("/nowhere").statusCode()).isEqualTo(429);
  }

  @Test
  void exemptPathAndPreflight_areNotCounted() throws Exception {
    start(ofAddress());
    for (int i = 0; i < 3; i++) {
      HttpResponse<String> response = get("/health");
      assertThat(response.statusCode()).isEqualTo(200);
      assertThat(response.headers().firstValue("RateLimit")).isEmpty();
      assertThat(
              send(request("/hello")
                      .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                      .header("Origin", "https://shop.example")
                      .header("Access-Control-Request-Method", "GET"))
                  .statusCode())
          .isNotEqualTo(429);
    }
    assertFields(get("/hello"), expected(1, "GET", "*/*"));
  }

  @Test
  void paths_areThoseThatTheApplicationMatches() throws Exception {
    RequestLimiter logins =
        limiter(engine(new MemoryStore())).descriptor("one={ip}").paths("/login").build();
    start(logins);
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    assertThat(post("/login", "right").statusCode()).isEqualTo(200);
    for (String same : List.of("/login", "/lo%67in", "/login?a=b", "/login/", "/login;a=b")) {
      int status = post(same, "right").statusCode();
      assertThat(status).as(same).isNotEqualTo(200); // Limited, or not found.
    }
  }

  @Test
  void peerUntrusted_headerIsIgnored() throws Exception {
    start(ofAddress());
    assertThat(statusFrom("203.0.113.7")).isEqualTo(200);
    assertThat(statusFrom("203.0.113.8")).isEqualTo(200);
    assertThat(statusFrom("203.0.113.9")).isEqualTo(429);
  }

  @Test
  void spoofedHeader_onlyTheProxysOwnElementCounts() throws Exception {
    ClientAddress behindProxy =
        ClientAddress.builder().trusted("127.0.0.0/8").header("X-Forwarded-For").build();
    start(limiter(engine(new MemoryStore())).descriptor("one={ip}").address(behindProxy).build());
    assertThat(statusFrom("6.6.6.6, 203.0.113.7")).isEqualTo(200);
    assertThat(statusFrom("7.7.7.7, 203.0.113.7")).isEqualTo(429);
    assertThat(statusFrom("6.6.6.6, 203.0.113.8")).isEqualTo(200);
    assertThat(
            send(request("/hello")
                    .header("X-Forwarded-For", "8.8.8.8")
                    .header("X-Forwarded-For", "203.0.113.8"))
                .statusCode())
        .as("two lines")
        .isEqualTo(429);
  }

  /** Returns the permits that this machine's address has left. */
  protected static long left(Engine engine) {
    return left(engine, "ip");
  }

  /** Returns the permits that this machine's address has left by the rule of a key. */
  protected static long left(Engine engine, String key) {
    AtomicLong left = new AtomicLong();
    engine.peek(
        Request.of("app", key, "127.0.0.1"),
        answer ->
            left.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return left.get();
  }

  @Test
  void onlyFailedRequestsCount_othersAreGivenBack() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("ip={ip}").refundUnless(401).build());
    for (int i = 0; i < 5; i++) {
      assertThat(post("/login", "right").statusCode()).isEqualTo(200);
      until(() -> left(engine) == 2); // A server may give back permits after the client has read.
    }
    assertThat(post("/login", "wrong").statusCode()).isEqualTo(401);
    assertThat(post("/login", "right").statusCode()).isEqualTo(200);
    until(() -> left(engine) == 1);
    assertThat(post("/login", "wrong").statusCode()).isEqualTo(401);
    assertThat(post("/login", "right").statusCode()).isEqualTo(429);
  }

  @Test
  void failedLoginsOfAForm_countByTheLocation() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(
        limiter(engine)
            .descriptor("ip={ip}")
            .refundUnless(outcome -> outcome.redirectsTo("?error"))
            .build());
    assertForms(engine, "wrong");
  }

  @Test
  void requestsThatTheApplicationCounts_count() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("ip={ip}").refundUnlessCounted().build());
    assertForms(engine, "counted");
  }

  @Test
  void costsThatTheApplicationReports_makeADebt() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(
        limiter(engine).descriptor("many={ip}").build(),
        limiter(engine).descriptor("ip={ip}").costsReported().build());
    for (int i = 0; i < 5; i++) {
      assertThat(post("/form", "right").statusCode()).isEqualTo(302);
    }
    assertThat(left(engine)).isEqualTo(2);
    assertThat(post("/form", "costs").statusCode()).isEqualTo(302);
    assertThat(left(engine)).isZero();
    HttpResponse<String> refused = post("/form", "costs");
    assertThat(refused.statusCode()).isEqualTo(429);
    assertThat(refused.headers().allValues("RateLimit").toString())
        .as("the limit before it counts requests")
        .contains("r=99993");
  }

  /** Asserts that only this answer to a form counts, though all have one status. */
  private void assertForms(Engine engine, String counts) throws Exception {
    for (int i = 0; i < 5; i++) {
      assertThat(post("/form", "right").statusCode()).isEqualTo(302);
      until(() -> left(engine) == 2);
    }
    assertThat(post("/form", counts).statusCode()).isEqualTo(302);
    assertThat(post("/form", "right").statusCode()).isEqualTo(302);
    until(() -> left(engine) == 1);
    assertThat(post("/form", counts).statusCode()).isEqualTo(302);
    assertThat(post("/form", counts).statusCode()).isEqualTo(429);
    assertThat(left(engine)).isZero();
  }

  @Test
  void route_isThePatternThatThePathMatched() throws Exception {
    start(limiter(engine(new MemoryStore())).descriptor("one={route}").build());
    assertThat(get("/users/1").statusCode()).isEqualTo(200);
    assertThat(get("/users/2").statusCode()).isEqualTo(429);
    assertThat(get("/hello").statusCode()).isEqualTo(200);
  }

  @Test
  void login_isTheAuthenticatedUser() throws Exception {
    start(limiter(engine(new MemoryStore())).descriptor("one={login}").build());
    for (String user : List.of("alice", "bob")) {
      String basic = Base64.getEncoder().encodeToString((user + ":secret").getBytes(UTF_8));
      HttpRequest.Builder own = request("/hello").header("Authorization", "Basic " + basic);
      assertThat(send(own).statusCode()).as(user).isEqualTo(200);
      assertThat(send(own).statusCode()).as(user).isEqualTo(429);
    }
  }

  @Test
  void twoLimiters_eachAddsItsFields() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(
        limiter(engine).descriptor("ip={ip}").build(),
        limiter(engine).descriptor("one={ip}").build());
    HttpResponse<String> served = get("/hello");
    assertThat(served.statusCode()).isEqualTo(200);
    assertThat(String.join(", ", served.headers().allValues("RateLimit")))
        .contains("r=1;")
        .contains("r=0;");
    assertThat(get("/hello").statusCode()).as("the second limit").isEqualTo(429);
    assertThat(engine.metrics().requests()).isEqualTo(4);
  }

  @Test
  void storeAnswersLate_requestIsServedWholeThen() throws Exception {
    LateStore store = new LateStore();
    start(limiter(engine(store)).descriptor("one={ip}").build());
    String body = "x".repeat(200_000);
    HttpRequest.Builder echo = request("/echo").POST(HttpRequest.BodyPublishers.ofString(body));
    CompletableFuture<HttpResponse<String>> served = sendAsync(echo);
    until(() -> store.due() == 1);
    for (int i = 0; i < 10; i++) {
      assertThat(get("/health").statusCode()).as("others are served").isEqualTo(200);
    }
    assertThat(served).isNotDone();
    store.answer();
    assertThat(served.join().statusCode()).isEqualTo(200);
    assertThat(served.join().body()).isEqualTo(body);
    CompletableFuture<HttpResponse<String>> refused = sendAsync(echo);
    until(() -> store.due() == 1);
    store.answer();
    assertThat(refused.join().statusCode()).isEqualTo(429);
  }

  @Test
  void refusedWithLargeBody_isAnswered() throws Exception {
    start(limiter(engine(new MemoryStore())).descriptor("one={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    assertThat(post("/echo", "x".repeat(3 << 20)).statusCode()).isEqualTo(429);
    assertThat(get("/hello").statusCode()).isEqualTo(429);
  }

  @Test
  void turn_isServedLate_andTheHopelessIsRefusedAtOnce() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("turn={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    CompletableFuture<HttpResponse<String>> waiting = sendAsync(request("/hello"));
    until(() -> engine.metrics().queues().waiting() == 1);
    assertThat(get("/hello").statusCode()).as("the queue is full").isEqualTo(429);
    assertThat(waiting).isNotDone();
    ticker.advance(1_000_000_000L);
    HttpResponse<String> served = waiting.join();
    assertThat(served.statusCode()).isEqualTo(200);
    assertThat(served.body()).isEqualTo("hello");
    assertThat(served.headers().firstValue("RateLimit").orElseThrow()).contains("r=0");
    assertThat(served.headers().firstValue("Retry-After")).isEmpty();
  }

  @Test
  void requestHasEnded_seatIsGivenBack() throws Exception {
    Engine engine = engine(new MemoryStore());
    RequestLimiter seats =
        limiter(engine).descriptor("seat={ip}").descriptor("ip={ip}").refundUnless(401).build();
    start(seats);
    for (int i = 0; i < 3; i++) {
      for (String path : List.of("/hello", "/nowhere", "/users/1", "/broken")) {
        assertThat(get(path).statusCode()).as(path).isNotEqualTo(429);
        until(() -> left(engine, "seat") == 2 && left(engine) == 2);
      }
      assertThat(send(request("/hello").method("HEAD", HttpRequest.BodyPublishers.noBody())).body())
          .isEmpty();
      until(() -> left(engine, "seat") == 2);
      assertThat(post("/echo", "x".repeat(300_000)).statusCode()).isEqualTo(200);
      until(() -> left(engine, "seat") == 2);
      assertThat(post("/form", "right").statusCode()).isEqualTo(302);
      until(() -> left(engine, "seat") == 2 && left(engine) == 2);
    }
    assertThat(post("/login", "wrong").statusCode()).isEqualTo(401);
    until(() -> left(engine, "seat") == 2 && left(engine) == 1);
    assertThat(ticker.scheduled()).as("no renewals are left").isZero();
    assertThat(seats.seats().leaked() + seats.seats().lost()).isZero();
  }

  @Test
  void adaptiveLimit_refusesWith503AndLearnsFromTheHead() throws Exception {
    Engine engine = engine(new MemoryStore());
    AdaptiveLimiter adaptive =
        AdaptiveLimiter.builder()
            .algorithm(AdaptiveAlgorithm.AIMD)
            .initial(1)
            .window(Duration.ofSeconds(1))
            .ticker(ticker)
            .build();
    start(limiter(engine).descriptor("ip={ip}").adaptive(adaptive).build());
    AdaptivePermit other = adaptive.tryAcquire();
    HttpResponse<String> refused = get("/hello");
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.headers().firstValue("Retry-After")).isEmpty();
    assertThat(refused.headers().firstValue("Cache-Control")).hasValue("no-store");
    assertThat(refused.body()).contains("As many requests are served at the same time");
    assertThat(left(engine)).as("a refused request is not charged").isEqualTo(2);
    other.close();
    ticker.advance(1_000_000_000L);
    for (String path : List.of("/hello", "/nowhere")) {
      assertThat(get(path).statusCode()).isNotEqualTo(503);
      until(() -> adaptive.inFlight() == 0);
    }
    assertThat(adaptive.limit()).as("after a window of two").isEqualTo(2);
    assertThat(get("/hello").statusCode()).isEqualTo(429);
    until(() -> adaptive.inFlight() == 0);
    assertThat(ticker.scheduled()).as("nothing holds a place").isZero();
  }

  @Test
  void laterLimiterRefuses_seatOfTheEarlierOneIsGivenBack() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(
        limiter(engine).descriptor("seat={ip}").build(),
        limiter(engine).descriptor("one={ip}").build());
    assertThat(get("/hello").statusCode()).isEqualTo(200);
    for (int i = 0; i < 4; i++) {
      assertThat(get("/hello").headers().allValues("RateLimit").toString()).contains("r=1");
      until(() -> left(engine, "seat") == 2);
    }
  }

  @Test
  void requestsWaitForASeat_eachIsServedInItsTurn() throws Exception {
    Engine engine = engine(new MemoryStore());
    start(limiter(engine).descriptor("line={ip}").build());
    List<CompletableFuture<HttpResponse<String>>> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(sendAsync(request("/users/1")));
    }
    until(
        () -> {
          ticker.advance(1_000_000L);
          return all.stream().allMatch(CompletableFuture::isDone);
        });
    for (CompletableFuture<HttpResponse<String>> each : all) {
      assertThat(each.join().statusCode()).isEqualTo(200);
    }
    until(() -> left(engine, "line") == 1);
  }

  @Test
  void mixedEndings_leaveNoSeatBehind() throws Exception {
    Engine engine = engine(new MemoryStore());
    RequestLimiter seats = limiter(engine).descriptor("seat={ip}").build();
    start(seats);
    // A request that is cancelled may close the connection on which the next one has begun.
    HttpClient leaving = HttpClient.newBuilder().version(version()).build();
    List<String> paths = List.of("/hello", "/nowhere", "/broken", "/users/1", "/health");
    for (int sent = 0; sent < 400; sent += 10) {
      List<CompletableFuture<?>> answers = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        HttpRequest.Builder request = request(paths.get((sent + i) % paths.size()));
        if (i % 3 == 0) {
          request = request("/echo").POST(HttpRequest.BodyPublishers.ofString("x".repeat(50_000)));
        }
        if (i % 5 == 4) {
          leaving.sendAsync(request.build(), HttpResponse.BodyHandlers.discarding()).cancel(true);
        } else {
          answers.add(sendAsync(request));
        }
      }
      answers.forEach(CompletableFuture::join);
    }
    until(() -> left(engine, "seat") == 2);
    assertThat(seats.seats().leaked()).isZero();
  }
}
