package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.engine.Answer;
import dev.weir.identity.ClientAddress;
import dev.weir.identity.MissingValue;
import dev.weir.protocol.http.CheckAnswer;
import dev.weir.rules.Request;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.Filter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of the filter in every container. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class ServletContract {
  /**
   * The bytes of a large body: more than Tomcat or Jetty reads and discards by itself, and than
   * sockets hold.
   */
  private static final int LARGE_BODY = 7 << 20;

  /** The limit of the key {@code who} in the rules. */
  private static final int WHO_LIMIT = 5;

  private static final int ACCOUNT_LIMIT = 10;

  final Limits limits = new Limits();
  private final App app = new App();
  private Container container;

  /** Starts the container. */
  abstract Container start(Site site);

  @BeforeAll
  void startContainer() {
    ClientAddress behindProxies =
        ClientAddress.builder()
            .trusted("127.0.0.0/8", "10.0.0.0/8")
            .header("X-Forwarded-For")
            .build();
    Filter byWho =
        RateLimitFilter.of(limits.limiter("who={header:X-Who}").missing(MissingValue.SKIP).build());
    Filter byKind =
        RateLimitFilter.of(
            limits.limiter("kind={header:X-Kind}").missing(MissingValue.SKIP).build());
    Filter byAddress =
        RateLimitFilter.of(
            limits.limiter("ip={ip}").address(behindProxies).paths("/app/address").build());
    Filter byPath = RateLimitFilter.of(limits.limiter("path={path}").paths("/app/path/**").build());
    Filter failedLogins =
        RateLimitFilter.of(
            limits
                .limiter("account={query:account}")
                .missing(MissingValue.SKIP)
                .refundUnless(401)
                .refundUnless(outcome -> outcome.redirectsTo("?error"))
                .build());
    Filter budget =
        RateLimitFilter.of(
            limits
                .limiter("budget={query:budget}")
                .missing(MissingValue.SKIP)
                .costsReported()
                .build());
    // The first filter is there twice, and all are called at every dispatch.
    container =
        start(
            new Site(app)
                .everywhere(byWho)
                .everywhere(byWho)
                .everywhere(byKind)
                .everywhere(byAddress)
                .everywhere(byPath)
                .everywhere(failedLogins)
                .everywhere(budget));
  }

  @AfterAll
  void stopContainer() {
    container.close();
    limits.close();
  }

  private Raw get(String target, String... fields) {
    return Raw.send(container.port(), "GET " + target, fields);
  }

  private static String who(String name) {
    return "X-Who: " + name;
  }

  /** Exhausts the limit of one sender. */
  private void exhaust(String who) {
    for (int i = 0; i < WHO_LIMIT; i++) {
      assertThat(get("/app/ok", who(who)).status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ok",
        "status?code=304",
        "status?code=404",
        "senderror?code=404",
        "senderror?code=401",
        "throw",
        "async",
        "asyncdispatch",
        "asynctwice?code=202",
        "asyncthrow",
        "forward",
        "include",
        "events"
      })
  void request_isCountedOnceWhateverBecomesOfIt(String target) {
    Raw answer = get("/app/" + target, who("once " + target));
    assertThat(limits.used("who", "once " + target)).isEqualTo(1);
    if (answer.status() == 500 && answer.values("RateLimit").isEmpty()) {
      return; // Undertow forgets the fields when a servlet throws.
    }
    assertThat(answer.values("RateLimit")).containsExactly("\"shop.who\";r=4;t=3600");
    assertThat(answer.values("RateLimit-Policy")).hasSize(1);
  }

  @Test
  void twoFilters_addAMemberEach() {
    Raw answer = get("/app/ok", who("member"), "X-Kind: member");
    assertThat(String.join(", ", answer.values("RateLimit")))
        .matches("\"shop.who\";r=4;t=\\d+, \"shop.kind\";r=999;t=\\d+");
    assertThat(limits.used("kind", "member")).isEqualTo(1);
  }

  @Test
  void laterFilterRefuses_earlierOneHasCounted() {
    for (int i = 0; i < 1000; i++) {
      limits.use("kind", "full");
    }
    assertThat(get("/app/ok", who("first"), "X-Kind: full").status()).isEqualTo(429);
    assertThat(limits.used("who", "first")).isEqualTo(1);
  }

  @Test
  void bytes_areThoseOfTheService() {
    exhaust("bytes");
    Request request = Request.of(Limits.DOMAIN, "who", "bytes");
    Answer answer = limits.engine.decide(request);
    Raw refused = get("/app/ok", who("bytes"));
    CheckAnswer service = new CheckAnswer(request, answer);
    assertThat(refused.status()).isEqualTo(429).isEqualTo(service.httpStatus());
    assertThat(refused.body()).isEqualTo(new String(service.json(), StandardCharsets.UTF_8));
    assertThat(refused.values("Content-Type")).containsExactly("application/problem+json");
    assertThat(refused.values("Retry-After"))
        .containsExactly(Long.toString(service.retryAfterSeconds()));
    assertThat(refused.values("Cache-Control")).containsExactly("no-store");
    assertThat(refused.values("Content-Length"))
        .containsExactly(Integer.toString(service.json().length));
  }

  @Test
  void head_hasFieldsAndNoBody() {
    exhaust("head");
    Raw refused = Raw.send(container.port(), "HEAD /app/ok", who("head"));
    assertThat(refused.status()).isEqualTo(429);
    assertThat(refused.body()).isEmpty();
    assertThat(refused.values("Retry-After")).hasSize(1);
    assertThat(refused.values("Content-Length")).hasSize(1);
  }

  @Test
  void largeBodyRefused_clientGetsTheRefusal() {
    exhaust("large");
    byte[] body = new byte[LARGE_BODY];
    String head = Raw.head("POST /app/body", who("large"), "Content-Length: " + LARGE_BODY);
    for (int i = 0; i < 5; i++) { // A reset that destroys the answer is a race.
      Raw refused = Raw.send(container.port(), head, body);
      assertThat(refused.status()).as(refused.toString()).isEqualTo(429);
      assertThat(refused.body()).contains("quota-exceeded");
    }
  }

  @Test
  void largeChunkedBodyRefused_clientGetsTheRefusal() {
    exhaust("chunks");
    byte[] start = (Integer.toHexString(LARGE_BODY) + "\r\n").getBytes(StandardCharsets.US_ASCII);
    byte[] end = "\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    byte[] body = new byte[start.length + LARGE_BODY + end.length];
    System.arraycopy(start, 0, body, 0, start.length);
    System.arraycopy(end, 0, body, body.length - end.length, end.length);
    String head = Raw.head("POST /app/body", who("chunks"), "Transfer-Encoding: chunked");
    assertThat(Raw.send(container.port(), head, body).status()).isEqualTo(429);
  }

  @Test
  void bodyOfAPassingRequest_isLeftToTheServlet() {
    byte[] body = "account=other&n=1".getBytes(StandardCharsets.US_ASCII);
    String head =
        Raw.head(
            "POST /app/body?account=form",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: " + body.length);
    Raw answer = Raw.send(container.port(), head, body);
    assertThat(answer.body()).isEqualTo(Integer.toString(body.length));
  }

  @Test
  void forwardedHeader_isReadFromTheRight() {
    assertThat(get("/app/address", "X-Forwarded-For: 6.6.6.6, 203.0.113.7").status())
        .isEqualTo(200);
    assertThat(
            get("/app/address", "X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 203.0.113.7")
                .status())
        .isEqualTo(200);
    assertThat(limits.used("ip", "203.0.113.7")).isEqualTo(2);
    assertThat(limits.used("ip", "6.6.6.6")).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/app/path/x",
        "/app/path/x;v=1",
        "/app;v=1/path/x",
        "/app/path/%78",
        "/app//path/x",
        "/app/./path/x",
        "/app/path/%2e/x",
        "/app/path/y/../x",
        "/app/path/y/%2e%2e/x",
        "/app/path%2fx",
        "//app/path/x"
      })
  void path_isTheOneThatTheServletSees(String target) {
    long before = limits.used("path", "/app/path/x");
    Raw answer = get(target);
    if (answer.status() == 200 && answer.body().startsWith("/app/path/")) {
      assertThat(limits.used("path", answer.body())).as(answer.body()).isPositive();
    } else {
      assertThat(answer.status()).isIn(200, 400, 404);
    }
    if (answer.body().equals("/app/path/x")) {
      assertThat(limits.used("path", "/app/path/x")).isEqualTo(before + 1);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "X-Forwarded-For: \u00ff\u00fe, \u0001",
        "Cookie: =;;;\"",
        "Accept: ;;;q=,,,text/html;q=x",
        "Origin: \u00e9",
        "Forwarded: for=\"",
        "Content-Type: ;;;",
        "X-Kind: \u00e9\u00a0"
      })
  void brokenHeader_neverFails(String field) {
    String name = "broken " + field.hashCode();
    for (int i = 0; i <= WHO_LIMIT; i++) {
      assertThat(get("/app/address", who(name), field).status())
          .isIn(400, i < WHO_LIMIT ? 200 : 429);
    }
  }

  @Test
  void missingHost_neverFails() {
    Raw answer = Raw.send(container.port(), "GET /app/ok HTTP/1.0\r\n\r\n", new byte[0]);
    assertThat(answer.status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"login", "asynclogin"})
  void failedLoginsOnly_neverMoreThanTheLimitGetThrough(String servlet) throws Exception {
    String target = "/app/" + servlet + "?account=" + servlet + "&password=";
    ExecutorService clients = Executors.newFixedThreadPool(20);
    List<Future<Integer>> wrong = new ArrayList<>();
    List<Future<Integer>> right = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      wrong.add(clients.submit(() -> get(target + "wrong").status()));
      right.add(clients.submit(() -> get(target + "right").status()));
    }
    int got = 0;
    for (Future<Integer> status : wrong) {
      assertThat(status.get()).isIn(401, 429);
      got += status.get() == 401 ? 1 : 0;
    }
    for (Future<Integer> status : right) {
      assertThat(status.get()).isIn(200, 429);
    }
    clients.shutdown();
    assertThat(got).isBetween(1, ACCOUNT_LIMIT);
    Awaiting.until(
        () -> limits.used("account", servlet) <= ACCOUNT_LIMIT, () -> "more than the limit");
    long counted = got;
    Awaiting.until(
        () -> limits.used("account", servlet) == counted,
        () -> counted + " failed, charged: " + limits.used("account", servlet));
  }

  @ParameterizedTest
  @ValueSource(strings = {"costs", "asynccosts"})
  void costsThatTheApplicationReports_makeADebt(String servlet) {
    int passed = 0;
    for (int i = 0; i < 12; i++) {
      Raw answer = get("/app/" + servlet + "?budget=" + servlet, who(servlet + i));
      assertThat(answer.status()).isIn(200, 429);
      passed += answer.status() == 200 ? 1 : 0;
      assertThat(limits.used("who", servlet + i)).as("a limit of requests").isEqualTo(1);
    }
    assertThat(passed).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"form", "asyncform"})
  void failedLoginsOfAForm_countByTheLocation(String servlet) {
    String target = "/app/" + servlet + "?account=" + servlet + "&password=";
    for (int i = 0; i < ACCOUNT_LIMIT; i++) {
      assertThat(get(target + "right").status()).isEqualTo(302);
      int wrong = i;
      Awaiting.until(
          () -> limits.used("account", servlet) == wrong,
          () -> "right ones: " + limits.used("account", servlet));
      assertThat(get(target + "wrong").status()).isEqualTo(302);
    }
    assertThat(get(target + "wrong").status()).isEqualTo(429);
    assertThat(get(target + "right").status()).isEqualTo(429);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ok",
        "throw",
        "async",
        "asyncdispatch",
        "asynctwice?code=200",
        "asyncthrow",
        "events",
        "senderror?code=404"
      })
  void statusThatDoesNotCount_isGivenBack(String target) {
    String account = target.replace('?', '-').replace('=', '-');
    get("/app/" + target + (target.contains("?") ? "&" : "?") + "account=" + account);
    Awaiting.until(
        () -> limits.used("account", account) == 0,
        () -> target + ": " + limits.used("account", account));
  }

  /** Its status is known from its head on, which is long before its end. */
  @ParameterizedTest
  @ValueSource(strings = {"open?by=stream", "open?by=writer", "long?by=size"})
  void openStream_isGivenBackAtItsHead(String by) throws Exception {
    String account = by.replace('?', '-').replace('=', '-');
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), container.port())) {
      String head = Raw.head("GET /app/" + by + "&account=" + account);
      client.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
      assertThat(client.getInputStream().read()).as("the head is sent").isEqualTo('H');
      Awaiting.until(
          () -> limits.used("account", account) == 0,
          () -> by + ": " + limits.used("account", account));
      Awaiting.until(() -> !app.open.isEmpty(), () -> by + ": not written");
    } finally {
      for (AsyncContext each = app.open.poll(); each != null; each = app.open.poll()) {
        each.complete();
      }
    }
  }

  /** A limit that waits for the status wraps the response, and changes nothing of it. */
  @ParameterizedTest
  @ValueSource(strings = {"printed", "reencoded"})
  void encodingOfTheContainer_staysAsItIs(String action) {
    String body = get("/app/" + action).body();
    assertThat(get("/app/" + action + "?account=" + action).body()).isEqualTo(body).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"status", "senderror", "asynctwice"})
  void statusThatCounts_staysCharged(String servlet) {
    get("/app/" + servlet + "?code=401&account=kept-" + servlet);
    assertThat(limits.used("account", "kept-" + servlet)).isEqualTo(1);
  }

  @Test
  void refusal_isAnsweredByTheHandlerGiven() {
    limits.use("turn", "own");
    Filter filter =
        RateLimitFilter.builder(limits.limiter("turn={header:X-Turn}").build())
            .refusals(
                (request, response, verdict) -> {
                  response.setStatus(verdict.status());
                  response.getOutputStream().write("own".getBytes(StandardCharsets.US_ASCII));
                })
            .build();
    try (Container other = start(new Site(new App()).filter(filter))) {
      Raw refused = Raw.send(other.port(), "GET /app/ok", "X-Turn: own");
      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.body()).contains("own");
    }
  }
}
