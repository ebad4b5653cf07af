package dev.weir.http.outgoing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.adaptive.AdaptiveAlgorithm;
import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.rules.Request;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The contract of the adapters of all HTTP clients, with a real client and a real service. The
 * client follows redirects.
 */
@Timeout(60)
public abstract class OutgoingContract {
  protected static final long SECOND = 1_000_000_000L;
  protected static final Duration LONG = Duration.ofHours(1);

  /** A response, from the service or made by the adapter. */
  public record Reply(int status, @Nullable String retryAfter, String body) {}

  /**
   * A request for whose response no thread waits.
   *
   * @param cancel cancels it, by the client's own method
   */
  public record Exchange(CompletableFuture<Reply> reply, Runnable cancel) {}

  protected final FakeTicker ticker = new FakeTicker(1_700_000_000 * SECOND);
  protected final Upstream upstream = new Upstream();
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);

  /** Limits all requests that are sent from now on. */
  protected abstract void limitBy(OutgoingLimiter limiter);

  /**
   * Sends a request on this thread.
   *
   * @param body the body of a POST; null for a GET
   */
  protected abstract Reply send(String url, @Nullable String body) throws Exception;

  /** Sends a GET. */
  protected abstract Exchange sendAsync(String url);

  /** Returns a GET as the limiter sees it, with these values of one field. */
  protected abstract OutgoingRequest view(String url, String field, List<String> values);

  /** Checks how a request fails that was cancelled while it waited. */
  protected abstract void assertCancelled(Throwable failure);

  /** Checks, on its thread, how a request fails whose thread was interrupted while it waited. */
  protected abstract void assertInterrupted(Throwable failure);

  @AfterEach
  void close() {
    upstream.close();
    engine.close();
  }

  /** Returns a limiter with a rule: one request per second and host. */
  protected final OutgoingLimiter.Builder oneASecond() {
    engine.apply(
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: partners
                    descriptors:
                      - key: host
                        rate_limit: {unit: second, requests_per_unit: 1}
                    """)
                .ruleSet()));
    return remembering().rules(engine, "partners").descriptor("host={host}");
  }

  /** Returns a limiter with a rule: two requests at the same time for each host. */
  protected final OutgoingLimiter.Builder twoAtOnce() {
    engine.apply(
        Objects.requireNonNull(
            Rules.parse(
                    "rules.yaml",
                    """
                    domain: partners
                    descriptors:
                      - key: host
                        rate_limit: {concurrency: 2, hold: 30s}
                    """)
                .ruleSet()));
    return remembering().rules(engine, "partners").descriptor("host={host}");
  }

  /** Returns how many of the two seats of the service are free. */
  protected final long free() {
    AtomicLong free = new AtomicLong(-1);
    engine.peek(
        Request.of("partners", "host", "127.0.0.1"),
        answer ->
            free.set(Objects.requireNonNull(answer.statuses().get(0).decision()).remaining()));
    return free.get();
  }

  /** Waits until so many of the two seats of the service are free. */
  protected final void untilFree(long free) {
    while (free() != free) {
      Thread.onSpinWait();
    }
  }

  /** Waits until so many requests renew their seats; before that, no test may move the time. */
  private void untilRenewed(int requests) {
    while (ticker.scheduled() != requests) {
      Thread.onSpinWait();
    }
  }

  /** Returns a limiter without rules. */
  protected final OutgoingLimiter.Builder remembering() {
    return OutgoingLimiter.builder().ticker(ticker);
  }

  /** Limits all requests that are sent from now on. */
  protected final OutgoingLimiter use(OutgoingLimiter.Builder builder) {
    OutgoingLimiter limiter = builder.build();
    limitBy(limiter);
    return limiter;
  }

  /** Returns the address of the service. */
  protected final String url() {
    return upstream.url("127.0.0.1");
  }

  /** Sends a GET on this thread and returns the status of its response. */
  protected final int status() throws Exception {
    return send(url(), null).status();
  }

  private int statusAsync() {
    return sendAsync(url()).reply().join().status();
  }

  /** Waits until so many requests wait. */
  protected static void untilWaiting(OutgoingLimiter limiter, int waiting) {
    while (limiter.waiting() != waiting) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "http://a.test, a.test, 80, /",
    "HTTPS://A.Test/x%20y?q=%2F, a.test, 443, /x y",
    "http://[2001:DB8::1]:8080/, 2001:db8::1, 8080, /",
  })
  void url_isTakenApart(String url, String host, int port, String path) {
    OutgoingRequest request = view(url, "X-A", List.of("1", "2"));
    assertThat(request.host()).isEqualTo(host);
    assertThat(request.port()).isEqualTo(port);
    assertThat(request.path()).isEqualTo(path);
    assertThat(request.method()).isEqualTo("GET");
    assertThat(request.headers("x-a")).containsExactly("1", "2");
    assertThat(request.headers("x-b")).isEmpty();
    assertThat(request.query("q")).isEqualTo(url.contains("?") ? "/" : null);
    assertThat(request.peer()).isNull();
  }

  @Test
  void overTheLimit_isAnsweredHere() throws Exception {
    use(oneASecond());
    assertThat(status()).isEqualTo(200);
    for (Reply refused : List.of(send(url(), null), sendAsync(url()).reply().join())) {
      assertThat(refused).isEqualTo(new Reply(429, "1", ""));
    }
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void overTheLimit_throwsIfAskedTo() throws Exception {
    use(oneASecond().throwOnRefusal());
    assertThat(status()).isEqualTo(200);
    assertThatThrownBy(this::status).satisfies(OutgoingContract::assertRefused);
    assertThatThrownBy(() -> sendAsync(url()).reply().get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .satisfies(OutgoingContract::assertRefused);
    assertThat(upstream.requests()).isEqualTo(1);
  }

  private static void assertRefused(Throwable failure) {
    assertThat(failure)
        .isInstanceOfSatisfying(
            RateLimitedException.class,
            refused ->
                assertThat(refused.refusal())
                    .extracting(LocalRefusal::host, LocalRefusal::status)
                    .containsExactly("127.0.0.1", 429))
        .hasMessageStartingWith("127.0.0.1: not sent. ")
        .hasMessageContaining("Retry in 1 s.");
  }

  @Test
  void serviceThatRefuses_isNotAskedUntilItSays() throws Exception {
    use(remembering());
    upstream.next(429, "Retry-After", "7").next(503, "RateLimit", "\"a\";r=0;t=3");
    assertThat(status()).isEqualTo(429);
    assertThat(status()).isEqualTo(429);
    assertThat(statusAsync()).isEqualTo(429);
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(7 * SECOND);
    assertThat(statusAsync()).isEqualTo(503);
    assertThat(statusAsync()).isEqualTo(503);
    assertThat(status()).isEqualTo(503);
    assertThat(upstream.requests()).isEqualTo(2);
    ticker.advance(3 * SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void badFields_areIgnored() throws Exception {
    OutgoingLimiter limiter = use(remembering());
    for (String value :
        List.of("-5", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "7".repeat(65_536), "0")) {
      for (String field : List.of("Retry-After", "RateLimit")) {
        upstream.next(429, field, value).next(429, field, value);
        assertThat(status()).isEqualTo(429);
        assertThat(statusAsync()).isEqualTo(429);
      }
    }
    assertThat(limiter.remembered()).isZero();
    assertThat(upstream.requests()).isEqualTo(20);
  }

  @Test
  void adaptiveLimit_learnsFromTheHeadAndIsHeldToTheEndOfTheBody() throws Exception {
    AdaptiveLimiter adaptive =
        AdaptiveLimiter.builder()
            .algorithm(AdaptiveAlgorithm.AIMD)
            .initial(2)
            .window(Duration.ofSeconds(1))
            .ticker(ticker)
            .build();
    use(remembering().adaptive(adaptive));
    AdaptivePermit other = adaptive.tryAcquire();
    Exchange open = sendAsync(url() + "open");
    while (adaptive.inFlight() < 2 || upstream.requests() < 1) {
      Thread.onSpinWait();
    }
    for (Reply refused : List.of(send(url(), null), sendAsync(url()).reply().join())) {
      assertThat(refused).isEqualTo(new Reply(503, null, ""));
    }
    assertThat(upstream.requests()).isEqualTo(1);
    upstream.ends.release();
    assertThat(open.reply().join().status()).isEqualTo(200);
    other.close();
    untilIdle(adaptive);
    ticker.advance(SECOND);
    for (int i = 0; i < 4; i++) {
      assertThat(status()).isEqualTo(200);
      untilIdle(adaptive);
    }
    assertThat(adaptive.limit()).as("after a window of four or five").isEqualTo(3);
    for (int status : new int[] {500, 404, 503, 429}) {
      upstream.next(status);
      ticker.advance(5 * SECOND);
      assertThat(status()).isEqualTo(status);
      untilIdle(adaptive);
      int limit = status == 503 ? 2 : status == 429 ? 1 : 3;
      assertThat(adaptive.limit()).as("after " + status).isEqualTo(limit);
    }
    assertThat(ticker.scheduled()).isZero();
  }

  @Test
  void noConnection_lowersTheAdaptiveLimit() throws Exception {
    AdaptiveLimiter adaptive = AdaptiveLimiter.builder().ticker(ticker).build();
    use(remembering().adaptive(adaptive));
    String url = url();
    upstream.close();
    assertThatThrownBy(() -> send(url, null)).isInstanceOf(IOException.class);
    assertThat(adaptive.limit()).isEqualTo(18);
    ticker.advance(SECOND);
    assertThatThrownBy(() -> sendAsync(url).reply().get()).isInstanceOf(ExecutionException.class);
    untilIdle(adaptive);
    assertThat(adaptive.limit()).isEqualTo(16);
  }

  private static void untilIdle(AdaptiveLimiter adaptive) {
    while (adaptive.inFlight() > 0) {
      Thread.onSpinWait();
    }
  }

  @Test
  void body_isNeverSentAgain() throws Exception {
    use(remembering().maxWait(LONG));
    for (int status : new int[] {429, 503}) {
      upstream.next(status, "Retry-After", "1");
      assertThat(send(url(), "order").status()).isEqualTo(status);
      ticker.advance(SECOND);
    }
    assertThat(upstream.bodies()).containsExactly("order", "order");
  }

  @Test
  void redirectedRequest_isRememberedForTheHostThatAnswered() throws Exception {
    use(remembering());
    upstream.next(302, "Location", upstream.url("localhost")).next(429, "Retry-After", "7");
    assertThat(status()).isEqualTo(429);
    assertThat(status()).isEqualTo(200);
    for (String host : List.of("localhost", "LOCALHOST")) {
      assertThat(send(upstream.url(host), null).status()).isEqualTo(429);
    }
    assertThat(upstream.requests()).isEqualTo(3);
  }

  @Test
  void refusedRequest_waitsAndIsSent() {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    assertThat(statusAsync()).isEqualTo(200);
    CompletableFuture<Reply> second = sendAsync(url()).reply();
    untilWaiting(limiter, 1);
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(SECOND);
    assertThat(second.join().status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void requestCancelledWhileItWaits_isNotCharged() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    assertThat(status()).isEqualTo(200);
    Exchange second = sendAsync(url());
    untilWaiting(limiter, 1);
    second.cancel().run();
    assertThatThrownBy(() -> second.reply().get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .satisfies(this::assertCancelled);
    assertThat(limiter.waiting()).isZero();
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void threadInterruptedWhileItWaits_endsTheRequest() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    assertThat(status()).isEqualTo(200);
    FutureTask<@Nullable Void> task =
        new FutureTask<>(
            () -> assertThatThrownBy(this::status).satisfies(this::assertInterrupted), null);
    Thread thread = new Thread(task);
    thread.start();
    untilWaiting(limiter, 1);
    thread.interrupt();
    task.get();
    thread.join();
    assertThat(limiter.waiting()).isZero();
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void requestHasEnded_seatIsGivenBack() throws Exception {
    OutgoingLimiter limiter = use(twoAtOnce());
    for (int i = 0; i < 3; i++) {
      upstream.next(200).next(500).next(429).next(302, "Location", url()).next(204);
      for (int j = 0; j < 4; j++) {
        assertThat(status()).isPositive();
        untilFree(2);
      }
      assertThat(statusAsync()).isEqualTo(200);
      untilFree(2);
      assertThat(send(url(), "order").status()).isEqualTo(200);
      untilFree(2);
    }
    assertThat(ticker.scheduled()).as("no renewals are left").isZero();
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void bodyIsOpen_seatIsHeldUntilItsEnd() {
    use(twoAtOnce());
    CompletableFuture<Reply> open = sendAsync(url() + "open").reply();
    Exchange other = sendAsync(url() + "open");
    untilRenewed(2);
    for (int i = 0; i < 6; i++) {
      ticker.advance(10 * SECOND); // It is renewed each third of 30 seconds.
    }
    assertThat(free()).isZero();
    assertThat(statusAsync()).as("refused here").isEqualTo(429);
    upstream.ends.release(2);
    assertThat(open.join().body()).isEqualTo("x");
    assertThat(other.reply().join().body()).isEqualTo("x");
    untilFree(2);
  }

  @Test
  void requestIsCancelledUnderWay_seatIsGivenBack() {
    use(twoAtOnce());
    Exchange open = sendAsync(url() + "open");
    untilFree(1);
    open.cancel().run();
    untilFree(2);
    upstream.ends.release();
  }

  @Test
  void requestFails_seatIsGivenBack() {
    use(twoAtOnce());
    upstream.close();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(this::status).isInstanceOf(IOException.class);
      untilFree(2);
      assertThatThrownBy(this::statusAsync).hasCauseInstanceOf(IOException.class);
      untilFree(2);
    }
  }

  @Test
  void mixedEndings_leaveNoSeatBehind() {
    use(twoAtOnce().maxWait(LONG));
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      Exchange exchange = sendAsync(url());
      if (i % 5 == 4) {
        exchange.cancel().run();
      } else {
        replies.add(exchange.reply());
      }
    }
    while (!replies.stream().allMatch(CompletableFuture::isDone)) {
      ticker.advance(SECOND);
    }
    untilFree(2);
  }
}
