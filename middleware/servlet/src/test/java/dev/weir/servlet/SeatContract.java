package dev.weir.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.http.RequestLimiter;
import dev.weir.identity.MissingValue;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of limits at the same time in every container: when a seat is given back. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
abstract class SeatContract {
  private static final Duration LONGEST = Duration.ofMinutes(5);

  /** The limit of the key {@code seat} in the rules. */
  private static final int SEATS = 3;

  private static final int MIXED = 400;

  /** The time that passes for requests that wait, while a container's own time is real. */
  private static final Duration STEP = Duration.ofMillis(5);

  /** A thread for each client: the common pool has one thread only on two processors. */
  private static final Executor THREADS = task -> new Thread(task, "client").start();

  final Limits limits = new Limits();
  private final App app = new App();
  private Container container;

  /** Starts the container. */
  abstract Container start(Site site);

  private RequestLimiter.Builder limiter(String key) {
    return limits.limiter(key + "={header:X-" + key + "}").missing(MissingValue.SKIP);
  }

  private final RequestLimiter seats = limiter("seat").build();
  private final RequestLimiter lines = limiter("line").build();

  @BeforeAll
  void startContainer() {
    WaitingFilter waiting = new WaitingFilter(2);
    RequestLimiter places =
        limits
            .limiter("place={header:X-Place}")
            .descriptor("kind={header:X-Place}")
            .missing(MissingValue.SKIP)
            .refundUnless(401)
            .build();
    container =
        start(
            new Site(app)
                .threads(20)
                .everywhere(RateLimitFilter.builder(lines).waiting(waiting).build())
                .everywhere(RateLimitFilter.of(seats))
                .everywhere(RateLimitFilter.of(places))
                .filter(waiting));
  }

  @AfterAll
  void stopContainer() {
    container.close();
    limits.close();
  }

  @AfterEach
  void completeWhatIsOpen() {
    for (AsyncContext each = app.open.poll(); each != null; each = app.open.poll()) {
      try {
        each.complete();
      } catch (IllegalStateException e) {
        // Its client has gone.
      }
    }
  }

  private Raw get(String target, String... fields) {
    return Raw.send(container.port(), "GET " + target, fields);
  }

  /** Opens a connection and sends a request on it. */
  private Socket open(String target, String field) throws Exception {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), container.port());
    client
        .getOutputStream()
        .write(Raw.head("GET " + target, field).getBytes(StandardCharsets.ISO_8859_1));
    return client;
  }

  private void awaitUsed(String key, String value, long seats) {
    Awaiting.until(
        () -> limits.used(key, value) == seats,
        () -> value + ": " + limits.used(key, value) + " (expected: " + seats + ")");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ok",
        "senderror?code=404",
        "senderror?code=401",
        "throw",
        "async",
        "asyncdispatch",
        "asynctwice?code=202",
        "asyncthrow",
        "timeout",
        "late",
        "forward",
        "include",
        "events",
        "nowhere"
      })
  void requestHasEnded_seatIsGivenBack(String target) {
    String name = target.replace('?', '-').replace('=', '-');
    int requests = Set.of("timeout", "late").contains(target) ? 1 : SEATS + 1; // Tomcat: a second.
    for (int i = 0; i < requests; i++) {
      Raw answer = get("/app/" + target, "X-Seat: " + name, "X-Place: " + name);
      assertThat(answer.status()).isNotEqualTo(429);
      awaitUsed("seat", name, 0);
      awaitUsed("place", name, 0);
    }
    awaitUsed("kind", name, target.endsWith("401") ? requests : 0);
  }

  /** The status is known before the end, in whatever order a container reports both. */
  @Test
  void responseIsComplete_adaptiveLimitHasLearnt() {
    Map<String, AdaptiveLimiter> limiters = new TreeMap<>();
    Site site = new Site(app);
    for (String target : List.of("ok", "async", "asyncdispatch", "asynctwice?code=202", "events")) {
      AdaptiveLimiter one =
          AdaptiveLimiter.builder()
              .algorithm(AdaptiveAlgorithm.AIMD)
              .initial(1)
              .ticker(limits.ticker)
              .build();
      limiters.put(target, one);
      site.everywhere(
          RateLimitFilter.of(
              limits
                  .limiter("ip={ip}")
                  .paths("/app/" + target.replace("?code=202", ""))
                  .adaptive(one)
                  .build()));
    }
    try (Container other = start(site)) {
      limiters.forEach(
          (target, limiter) -> {
            for (int i = 0; i < 2; i++) {
              limits.advance(Duration.ofSeconds(1)); // Longer than a window, of two successes.
              assertThat(Raw.send(other.port(), "GET /app/" + target).status()).isLessThan(300);
              Awaiting.until(() -> limiter.inFlight() == 0, () -> target + ": a place is held");
            }
            assertThat(limiter.limit()).as(target).isEqualTo(2);
          });
    }
  }

  @Test
  void handlerIsAtWork_holdsItsSeat() {
    List<CompletableFuture<Raw>> answers = new ArrayList<>();
    for (int i = 1; i <= SEATS; i++) {
      answers.add(CompletableFuture.supplyAsync(() -> get("/app/work", "X-Seat: work"), THREADS));
      int begun = i; // Its seat is renewed from before its handler begins.
      Awaiting.until(() -> app.atWork.getQueueLength() == begun, () -> "begun: not " + begun);
    }
    awaitUsed("seat", "work", SEATS);
    for (int i = 0; i < 4; i++) {
      limits.advance(Duration.ofSeconds(20)); // It is renewed each third of a minute.
    }
    assertThat(get("/app/ok", "X-Seat: work").status()).isEqualTo(429);
    app.atWork.release(SEATS);
    answers.forEach(each -> assertThat(each.join().status()).isEqualTo(200));
    awaitUsed("seat", "work", 0);
  }

  /** Its status is known from its head on, and its seat is held until its end. */
  @Test
  void streamIsOpen_holdsItsSeatUntilItIsComplete() throws Exception {
    try (Socket client = open("/app/open?by=stream", "X-Place: stream")) {
      assertThat(client.getInputStream().read()).as("the head is sent").isEqualTo('H');
      for (int i = 0; i < 4; i++) {
        limits.advance(Duration.ofSeconds(20));
      }
      assertThat(limits.used("place", "stream")).isEqualTo(1);
      Awaiting.until(() -> !app.open.isEmpty(), () -> "not written");
      completeWhatIsOpen();
      awaitUsed("place", "stream", 0);
    }
    awaitUsed("kind", "stream", 0); // It does not count.
  }

  /** No container reports such a client; the seat comes back after the longest time. */
  @Test
  void clientLeavesASilentRequest_longestGivesTheSeatBack() throws Exception {
    long leaked = seats.seats().leaked();
    Socket client = open("/app/silent", "X-Seat: silent");
    awaitUsed("seat", "silent", 1);
    Awaiting.until(() -> !app.open.isEmpty(), () -> "not begun");
    client.close();
    for (Duration age = Duration.ZERO;
        age.compareTo(LONGEST) < 0;
        age = age.plus(Duration.ofSeconds(20))) {
      assertThat(limits.used("seat", "silent")).isEqualTo(1);
      limits.advance(Duration.ofSeconds(20));
    }
    assertThat(limits.used("seat", "silent")).isZero();
    assertThat(seats.seats().leaked()).isEqualTo(leaked + 1);
  }

  /** A request whose turn comes late is decided again in the queue, and holds a seat from then. */
  @ParameterizedTest
  @ValueSource(strings = {"ok", "throw", "async", "asyncdispatch", "asynctwice?code=202", "late"})
  void requestThatWaited_givesItsSeatBack(String target) throws Exception {
    String name = target.replace('?', '-').replace('=', '-');
    Socket first = open("/app/work", "X-Line: " + name);
    awaitUsed("line", name, 1);
    List<CompletableFuture<Raw>> waiting = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      waiting.add(
          CompletableFuture.supplyAsync(
              () -> get("/app/" + target, "X-Line: " + name, "X-Seat: " + name), THREADS));
      limits.awaitWaiting(i);
    }
    app.atWork.release();
    limits.advanceUntil(STEP, () -> waiting.stream().allMatch(CompletableFuture::isDone));
    for (CompletableFuture<Raw> each : waiting) {
      assertThat(each.join().status()).isNotEqualTo(429);
    }
    awaitUsed("line", name, 0);
    awaitUsed("seat", name, 0);
    first.close();
  }

  @Test
  void requestWaitsBehindASeatThatItHolds_bothAreGivenBack() throws Exception {
    Socket first = open("/app/work", "X-Line: behind");
    awaitUsed("line", "behind", 1);
    CompletableFuture<Raw> second =
        CompletableFuture.supplyAsync(
            () -> get("/app/async", "X-Line: behind", "X-Seat: behind"), THREADS);
    limits.awaitWaiting(1);
    awaitUsed("seat", "behind", 1);
    app.atWork.release();
    limits.advanceUntil(STEP, second::isDone);
    assertThat(second.join().status()).isEqualTo(200);
    awaitUsed("seat", "behind", 0);
    awaitUsed("line", "behind", 0);
    first.close();
  }

  /**
   * Asserts that a seat is held if a filter passes on the container's own request instead of the
   * watched one. Undertow does not permit that.
   */
  final void assertOwnRequestIsNoticed() {
    RequestLimiter limiter = limiter("seat").build();
    try (Container other =
        start(
            new Site(app)
                .filter(
                    (request, response, chain) -> {
                      request.setAttribute("own", request);
                      chain.doFilter(request, response);
                    })
                .filter(RateLimitFilter.of(limiter))
                .filter(
                    (request, response, chain) ->
                        chain.doFilter(
                            (HttpServletRequest) request.getAttribute("own"), response)))) {
      CompletableFuture<Raw> silent =
          CompletableFuture.supplyAsync(
              () -> Raw.send(other.port(), "GET /app/silent", "X-Seat: hidden"), THREADS);
      Awaiting.until(() -> !app.open.isEmpty(), () -> "not begun");
      assertThat(limits.used("seat", "hidden")).isEqualTo(1);
      completeWhatIsOpen();
      assertThat(silent.join().status()).isEqualTo(200);
      awaitUsed("seat", "hidden", 0);
    }
  }

  @Test
  void mixedEndings_leaveNoSeatBehind() throws Exception {
    List<String> targets =
        List.of(
            "ok",
            "senderror?code=404",
            "throw",
            "async",
            "asyncdispatch",
            "asynctwice?code=202",
            "timeout",
            "late",
            "forward",
            "events",
            "body");
    long leaked = seats.seats().leaked() + lines.seats().leaked();
    ExecutorService clients = Executors.newFixedThreadPool(12);
    List<Future<Integer>> statuses = new ArrayList<>();
    for (int i = 0; i < MIXED; i++) {
      String target = "/app/" + targets.get(i % targets.size());
      int each = i;
      statuses.add(
          clients.submit(
              () -> {
                if (each % 5 == 4) {
                  open(target, "X-Seat: mixed").close();
                  return 0;
                }
                return get(target, "X-Seat: mixed", "X-Place: mixed").status();
              }));
    }
    int passed = 0;
    for (Future<Integer> status : statuses) {
      passed += status.get() == 429 || status.get() == 0 ? 0 : 1;
    }
    clients.shutdown();
    assertThat(passed).isPositive();
    awaitUsed("seat", "mixed", 0);
    awaitUsed("place", "mixed", 0);
    assertThat(seats.seats().leaked() + lines.seats().leaked()).isEqualTo(leaked);
  }
}
