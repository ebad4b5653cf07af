package dev.weir.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.outgoing.LocalRefusal;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.RateLimitedException;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import okhttp3.Cache;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RateLimitInterceptorTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Duration LONG = Duration.ofHours(1);

  private final FakeTicker ticker = new FakeTicker(1_700_000_000 * SECOND);
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private final Upstream upstream = new Upstream();
  private OkHttpClient client = new OkHttpClient();

  @AfterEach
  void close() {
    client.dispatcher().executorService().shutdownNow();
    client.connectionPool().evictAll();
    upstream.close();
    engine.close();
  }

  private OutgoingLimiter.Builder oneASecond() {
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

  private OutgoingLimiter.Builder remembering() {
    return OutgoingLimiter.builder().ticker(ticker);
  }

  private OutgoingLimiter use(OutgoingLimiter.Builder builder) {
    OutgoingLimiter limiter = builder.build();
    client = client.newBuilder().addInterceptor(RateLimitInterceptor.of(limiter)).build();
    return limiter;
  }

  private Call call() {
    return client.newCall(new Request.Builder().url(upstream.url("127.0.0.1")).build());
  }

  private int status() throws IOException {
    try (Response response = call().execute()) {
      return response.code();
    }
  }

  private static CompletableFuture<Integer> later(Call call) {
    CompletableFuture<Integer> status = new CompletableFuture<>();
    call.enqueue(
        new Callback() {
          @Override
          public void onFailure(Call call, IOException e) {
            status.completeExceptionally(e);
          }

          @Override
          public void onResponse(Call call, Response response) {
            response.close();
            status.complete(response.code());
          }
        });
    return status;
  }

  private static void untilWaiting(OutgoingLimiter limiter, int waiting) {
    while (limiter.waiting() != waiting) {
      Thread.onSpinWait();
    }
  }

  @Test
  void overTheLimit_isAnsweredHere() throws IOException {
    use(oneASecond());
    assertThat(status()).isEqualTo(200);
    try (Response response = call().execute()) {
      assertThat(response.code()).isEqualTo(429);
      assertThat(response.message()).isEqualTo("Too Many Requests");
      assertThat(response.header("Retry-After")).isEqualTo("1");
      assertThat(Objects.requireNonNull(response.body()).string()).isEmpty();
      assertThat(response.networkResponse()).isNull();
    }
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void overTheLimit_throwsIfAskedTo() throws IOException {
    use(oneASecond().throwOnRefusal());
    status();
    assertThatThrownBy(this::status)
        .isInstanceOfSatisfying(
            RateLimitedException.class,
            e ->
                assertThat(e.refusal())
                    .extracting(LocalRefusal::host, LocalRefusal::status)
                    .containsExactly("127.0.0.1", 429))
        .hasMessageContaining("Retry in 1 s.");
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void serviceThatRefuses_isNotAskedUntilItSays() throws IOException {
    use(remembering());
    upstream.next(429, "Retry-After", "7").next(503, "RateLimit", "\"a\";r=0;t=3");
    assertThat(status()).isEqualTo(429);
    assertThat(status()).isEqualTo(429);
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(7 * SECOND);
    assertThat(status()).isEqualTo(503);
    assertThat(status()).isEqualTo(503);
    assertThat(upstream.requests()).isEqualTo(2);
    ticker.advance(3 * SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void badFields_areIgnored() throws IOException {
    OutgoingLimiter limiter = use(remembering());
    for (String value :
        new String[] {"-5", "soon", "Sun, 06 Nov 1994 08:49:37 GMT", "7".repeat(65_536), "0"}) {
      upstream.next(429, "Retry-After", value);
      assertThat(status()).isEqualTo(429);
      upstream.next(429, "RateLimit", value);
      assertThat(status()).isEqualTo(429);
    }
    assertThat(limiter.remembered()).isZero();
    assertThat(upstream.requests()).isEqualTo(10);
  }

  @Test
  void body_isNeverSentAgain() throws IOException {
    use(remembering().maxWait(LONG));
    for (int status : new int[] {429, 503}) {
      upstream.next(status, "Retry-After", "1");
      Request request =
          new Request.Builder()
              .url(upstream.url("127.0.0.1"))
              .post(RequestBody.create("order", null))
              .build();
      try (Response response = client.newCall(request).execute()) {
        assertThat(response.code()).isEqualTo(status);
      }
      ticker.advance(SECOND);
    }
    assertThat(upstream.bodies).containsExactly("order", "order");
  }

  @Test
  void redirectedRequest_isRememberedForTheHostThatAnswered() throws IOException {
    use(remembering());
    upstream.next(302, "Location", upstream.url("localhost")).next(429, "Retry-After", "7");
    assertThat(status()).isEqualTo(429);
    assertThat(status()).isEqualTo(200);
    Request other = new Request.Builder().url(upstream.url("localhost")).build();
    try (Response response = client.newCall(other).execute()) {
      assertThat(response.code()).isEqualTo(429);
    }
    assertThat(upstream.requests()).isEqualTo(3);
  }

  @Test
  void requestAnsweredByTheCache_isNotCharged(@TempDir Path folder) throws IOException {
    client = client.newBuilder().cache(new Cache(folder.toFile(), 1 << 20)).build();
    use(oneASecond());
    upstream.next(200, "Cache-Control", "max-age=3600", "Content-Type", "text/plain");
    assertThat(status()).isEqualTo(200);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
    assertThat(status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void refusedRequest_waitsAndIsSent() {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    later(call()).join();
    CompletableFuture<Integer> second = later(call());
    untilWaiting(limiter, 1);
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(SECOND);
    assertThat(second.join()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void callCancelledWhileItWaits_isNotCharged() throws IOException {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    status();
    Call waits = call();
    CompletableFuture<Integer> second = later(waits);
    untilWaiting(limiter, 1);
    waits.cancel();
    assertThatThrownBy(second::get)
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(IOException.class)
        .hasMessage("Canceled");
    assertThat(limiter.waiting()).isZero();
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void callTimeoutWhileItWaits_endsIt() throws IOException {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    status();
    Call hasty =
        client.newBuilder().callTimeout(Duration.ofMillis(50)).build().newCall(call().request());
    assertThatThrownBy(hasty::execute)
        .isInstanceOf(InterruptedIOException.class)
        .hasMessage("timeout");
    assertThat(limiter.waiting()).isZero();
  }

  @Test
  void threadInterruptedWhileItWaits_endsTheCall() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    status();
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                failure.complete(new AssertionError("answered: " + status()));
              } catch (IOException e) {
                failure.complete(Thread.interrupted() ? e : new AssertionError("flag lost"));
              }
            });
    thread.start();
    untilWaiting(limiter, 1);
    thread.interrupt();
    assertThat(failure.get()).isInstanceOf(InterruptedIOException.class);
    thread.join();
    assertThat(limiter.waiting()).isZero();
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void userKeyThatFails_leavesNoResponseOpen() {
    upstream.next(429, "Retry-After", "7");
    boolean[] sent = {false};
    use(
        remembering()
            .key(
                request -> {
                  if (sent[0]) {
                    throw new IllegalStateException("no key");
                  }
                  sent[0] = true;
                  return "";
                }));
    assertThatThrownBy(this::status).isInstanceOf(IllegalStateException.class);
    assertThat(client.connectionPool().idleConnectionCount())
        .isEqualTo(client.connectionPool().connectionCount());
  }
}
