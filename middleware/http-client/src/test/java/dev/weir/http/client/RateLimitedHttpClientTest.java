package dev.weir.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.MemoryStore;
import dev.weir.engine.Engine;
import dev.weir.engine.EngineSettings;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.RateLimitedException;
import dev.weir.rules.Rules;
import dev.weir.testkit.FakeTicker;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RateLimitedHttpClientTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Duration LONG = Duration.ofHours(1);

  private final FakeTicker ticker = new FakeTicker(1_700_000_000 * SECOND);
  private final Engine engine = Engine.create(new MemoryStore(), ticker, EngineSettings.DEFAULTS);
  private final Upstream upstream = new Upstream();
  private final HttpClient wrapped =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
  private HttpClient client = wrapped;

  @AfterEach
  void close() {
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
    client = RateLimitedHttpClient.of(wrapped, limiter);
    return limiter;
  }

  private HttpRequest request() {
    return HttpRequest.newBuilder(URI.create(upstream.url("127.0.0.1"))).build();
  }

  private HttpResponse<String> send() throws IOException, InterruptedException {
    return client.send(request(), BodyHandlers.ofString());
  }

  private int status() throws IOException, InterruptedException {
    return send().statusCode();
  }

  private CompletableFuture<HttpResponse<String>> sendAsync() {
    return client.sendAsync(request(), BodyHandlers.ofString());
  }

  private static void untilWaiting(OutgoingLimiter limiter, int waiting) {
    while (limiter.waiting() != waiting) {
      Thread.onSpinWait();
    }
  }

  @Test
  void overTheLimit_isAnsweredHere() throws Exception {
    use(oneASecond());
    HttpResponse<String> first = send();
    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(RateLimitedHttpClient.isLocal(first)).isFalse();
    for (HttpResponse<String> refused : List.of(send(), sendAsync().join())) {
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.headers().firstValue("Retry-After")).contains("1");
      assertThat(refused.body()).isEmpty();
      assertThat(refused.uri()).isEqualTo(request().uri());
      assertThat(refused.request().uri()).isEqualTo(request().uri());
      assertThat(refused.previousResponse()).isEmpty();
      assertThat(refused.sslSession()).isEmpty();
      assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
      assertThat(RateLimitedHttpClient.isLocal(refused)).isTrue();
    }
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void handlersOfAllKinds_makeABodyOfNoBytes(@TempDir Path folder) throws Exception {
    use(oneASecond());
    send();
    assertThat(client.send(request(), BodyHandlers.discarding()).body()).isNull();
    assertThat(client.send(request(), BodyHandlers.replacing(7)).body()).isEqualTo(7);
    assertThat(client.send(request(), BodyHandlers.ofByteArray()).body()).isEmpty();
    assertThat(client.send(request(), BodyHandlers.ofInputStream()).body()).isEmpty();
    assertThat(client.send(request(), BodyHandlers.ofLines()).body()).isEmpty();
    Path file = client.send(request(), BodyHandlers.ofFile(folder.resolve("body"))).body();
    assertThat(Files.size(file)).isZero();
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void overTheLimit_throwsIfAskedTo() throws Exception {
    use(oneASecond().throwOnRefusal());
    send();
    assertThatThrownBy(this::send)
        .isInstanceOf(RateLimitedException.class)
        .hasMessageContaining("127.0.0.1: not sent");
    assertThatThrownBy(() -> sendAsync().join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(RateLimitedException.class);
    assertThat(upstream.requests()).isEqualTo(1);
  }

  @Test
  void serviceThatRefuses_isNotAskedUntilItSays() throws Exception {
    use(remembering());
    upstream.next(429, "Retry-After", "7").next(503, "RateLimit", "\"a\";r=0;t=3");
    assertThat(status()).isEqualTo(429);
    assertThat(sendAsync().join().statusCode()).isEqualTo(429);
    assertThat(upstream.requests()).isEqualTo(1);
    ticker.advance(7 * SECOND);
    assertThat(sendAsync().join().statusCode()).isEqualTo(503);
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
      upstream.next(429, "Retry-After", value);
      assertThat(status()).isEqualTo(429);
      upstream.next(429, "RateLimit", value);
      assertThat(sendAsync().join().statusCode()).isEqualTo(429);
    }
    assertThat(limiter.remembered()).isZero();
    assertThat(upstream.requests()).isEqualTo(10);
  }

  @Test
  void body_isNeverSentAgain() throws Exception {
    use(remembering().maxWait(LONG));
    for (int status : new int[] {429, 503}) {
      upstream.next(status, "Retry-After", "1");
      HttpRequest post =
          HttpRequest.newBuilder(URI.create(upstream.url("127.0.0.1")))
              .POST(BodyPublishers.ofString("order"))
              .build();
      assertThat(client.send(post, BodyHandlers.discarding()).statusCode()).isEqualTo(status);
      ticker.advance(SECOND);
    }
    assertThat(upstream.bodies).containsExactly("order", "order");
  }

  @Test
  void redirectedRequest_isRememberedForTheHostThatAnswered() throws Exception {
    use(remembering());
    upstream.next(302, "Location", upstream.url("localhost")).next(429, "Retry-After", "7");
    assertThat(status()).isEqualTo(429);
    assertThat(status()).isEqualTo(200);
    HttpRequest other = HttpRequest.newBuilder(URI.create(upstream.url("LOCALHOST"))).build();
    assertThat(client.send(other, BodyHandlers.discarding()).statusCode()).isEqualTo(429);
    assertThat(upstream.requests()).isEqualTo(3);
  }

  @Test
  void manyRequests_waitWithoutAThread() {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    sendAsync().join();
    List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      waiting.add(sendAsync()); // If it blocked, the test would end here by its timeout.
    }
    assertThat(limiter.waiting()).isEqualTo(100);
    ConcurrentHashMap<Integer, Integer> statuses = new ConcurrentHashMap<>();
    for (int i = 0; i < 100; i++) {
      ticker.advance(SECOND);
      assertThat(limiter.waiting()).isEqualTo(99 - i);
    }
    waiting.forEach(each -> statuses.merge(each.join().statusCode(), 1, Integer::sum));
    assertThat(statuses).containsExactlyEntriesOf(Map.of(200, 100));
    assertThat(upstream.requests()).isEqualTo(101);
  }

  @Test
  void futureCancelledWhileItWaits_isNotCharged() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    send();
    for (boolean mayInterrupt : new boolean[] {true, false}) {
      CompletableFuture<?> waits = sendAsync();
      assertThat(limiter.waiting()).isEqualTo(1);
      assertThat(waits.cancel(mayInterrupt)).isTrue();
      assertThat(limiter.waiting()).isZero();
    }
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void derivedFutureCancelledWhileItWaits_isNotCharged() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    send();
    CompletableFuture<HttpResponse<String>> waits = sendAsync();
    CompletableFuture<Integer> derived = waits.thenApply(HttpResponse::statusCode);
    assertThat(derived.cancel(true)).isTrue();
    assertThat(limiter.waiting()).isZero();
    assertThatThrownBy(waits::join).isInstanceOf(CancellationException.class);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
    assertThat(upstream.requests()).isEqualTo(2);
  }

  @Test
  void futureThatTimesOutWhileItWaits_isNotCharged() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    send();
    assertThatThrownBy(() -> sendAsync().orTimeout(20, TimeUnit.MILLISECONDS).join())
        .hasCauseInstanceOf(TimeoutException.class);
    untilWaiting(limiter, 0);
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void futureCancelledUnderWay_cancelsTheExchange() {
    CompletableFuture<HttpResponse<String>> exchange = new CompletableFuture<>();
    Send<String> send =
        new Send<>(() -> exchange, refusal -> CompletableFuture.failedFuture(new IOException()));
    OutgoingLimiter limiter = remembering().build();
    send.waitsWith(limiter.admit(new JdkRequest(request()), send::admitted));
    assertThat(exchange).isNotDone();
    send.result().thenApply(HttpResponse::statusCode).cancel(true);
    assertThat(exchange).isCancelled();
  }

  @Test
  void threadInterruptedWhileItWaits_endsTheRequest() throws Exception {
    OutgoingLimiter limiter = use(oneASecond().maxWait(LONG));
    send();
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                failure.complete(new AssertionError("answered: " + status()));
              } catch (IOException | InterruptedException e) {
                failure.complete(e);
              }
            });
    thread.start();
    untilWaiting(limiter, 1);
    thread.interrupt();
    assertThat(failure.get()).isInstanceOf(InterruptedException.class);
    thread.join();
    assertThat(limiter.waiting()).isZero();
    ticker.advance(SECOND);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void requestWithATimeout_waitsNoLonger() throws Exception {
    use(oneASecond().maxWait(LONG));
    send();
    HttpRequest hasty =
        HttpRequest.newBuilder(request().uri()).timeout(Duration.ofMillis(900)).build();
    assertThat(client.send(hasty, BodyHandlers.discarding()).statusCode()).isEqualTo(429);
    HttpRequest patient =
        HttpRequest.newBuilder(request().uri()).timeout(Duration.ofSeconds(Long.MAX_VALUE)).build();
    assertThat(client.sendAsync(patient, BodyHandlers.discarding())).isNotDone();
  }

  @Test
  void requestThatCannotBeSent_isNotCharged() throws Exception {
    use(oneASecond());
    HttpRequest noHost = new NotHttp();
    assertThatThrownBy(() -> client.send(noHost, BodyHandlers.discarding()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> client.sendAsync(noHost, BodyHandlers.discarding()).join())
        .hasCauseInstanceOf(IllegalArgumentException.class);
    assertThat(status()).isEqualTo(200);
  }

  @Test
  void pushPromises_areHandedOn() {
    use(oneASecond());
    HttpResponse.PushPromiseHandler<String> none = (initiating, pushed, acceptor) -> {};
    assertThat(client.sendAsync(request(), BodyHandlers.ofString(), none).join().statusCode())
        .isEqualTo(200);
    assertThat(client.sendAsync(request(), BodyHandlers.ofString(), none).join().statusCode())
        .isEqualTo(429);
  }

  @Test
  void settings_areTheWrappedClients() {
    use(remembering());
    assertThat(client.followRedirects()).isEqualTo(HttpClient.Redirect.NORMAL);
    assertThat(client.version()).isEqualTo(wrapped.version());
    assertThat(client.sslContext()).isSameAs(wrapped.sslContext());
    assertThat(client.sslParameters().getProtocols())
        .isEqualTo(wrapped.sslParameters().getProtocols());
    assertThat(client.connectTimeout()).isEmpty();
    assertThat(client.cookieHandler()).isEmpty();
    assertThat(client.proxy()).isEmpty();
    assertThat(client.authenticator()).isEmpty();
    assertThat(client.executor()).isEmpty();
    assertThat(client.newWebSocketBuilder()).isNotNull();
  }

  @Test
  void shutdown_isTheWrappedClientsWhereItHasOne() throws Exception {
    boolean closes = Runtime.version().feature() >= 21;
    HttpClient own = HttpClient.newHttpClient();
    RateLimitedHttpClient limited = RateLimitedHttpClient.of(own, remembering().build());
    assertThat(limited.isTerminated()).isFalse();
    limited.shutdown();
    assertThat(limited.awaitTermination(Duration.ofSeconds(30))).isTrue();
    assertThat(limited.isTerminated()).isEqualTo(closes);
    limited.shutdownNow();
    limited.close();
    if (closes) {
      assertThatThrownBy(() -> limited.send(request(), BodyHandlers.discarding()))
          .isInstanceOf(IOException.class);
    } else {
      assertThat(limited.send(request(), BodyHandlers.discarding()).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void everyMethodOfHttpClient_isOverridden() {
    List<String> own =
        Arrays.stream(RateLimitedHttpClient.class.getDeclaredMethods())
            .map(RateLimitedHttpClientTest::signature)
            .toList();
    List<String> inherited =
        Arrays.stream(HttpClient.class.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()))
            .filter(method -> !Modifier.isStatic(method.getModifiers()))
            .map(RateLimitedHttpClientTest::signature)
            .toList();
    assertThat(inherited).hasSizeGreaterThanOrEqualTo(13);
    assertThat(own).containsAll(inherited);
  }

  private static String signature(Method method) {
    return method.getName() + Arrays.toString(method.getParameterTypes());
  }

  /** A request that the JDK's client does not send. */
  private static final class NotHttp extends HttpRequest {
    @Override
    public Optional<BodyPublisher> bodyPublisher() {
      return Optional.empty();
    }

    @Override
    public String method() {
      return "GET";
    }

    @Override
    public Optional<Duration> timeout() {
      return Optional.empty();
    }

    @Override
    public boolean expectContinue() {
      return false;
    }

    @Override
    public URI uri() {
      return URI.create("ftp://127.0.0.1/");
    }

    @Override
    public Optional<HttpClient.Version> version() {
      return Optional.empty();
    }

    @Override
    public HttpHeaders headers() {
      return HttpHeaders.of(Map.of(), (name, value) -> true);
    }
  }
}
