package dev.weir.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.http.outgoing.OutgoingContract;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.OutgoingRequest;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateLimitedHttpClientTest extends OutgoingContract {
  private final HttpClient wrapped =
      HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
  private HttpClient client = wrapped;

  @Override
  protected void limitBy(OutgoingLimiter limiter) {
    client = RateLimitedHttpClient.of(wrapped, limiter);
  }

  private HttpRequest request() {
    return HttpRequest.newBuilder(URI.create(url())).build();
  }

  private HttpResponse<String> send() throws IOException, InterruptedException {
    return client.send(request(), BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> sendAsync() {
    return client.sendAsync(request(), BodyHandlers.ofString());
  }

  private static Reply read(HttpResponse<String> response) {
    return new Reply(
        response.statusCode(),
        response.headers().firstValue("Retry-After").orElse(null),
        response.body());
  }

  @Override
  protected Reply send(String url, @Nullable String body) throws Exception {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
    if (body != null) {
      request.POST(BodyPublishers.ofString(body));
    }
    return read(client.send(request.build(), BodyHandlers.ofString()));
  }

  @Override
  protected Exchange sendAsync(String url) {
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    return new Exchange(
        response.thenApply(RateLimitedHttpClientTest::read), () -> response.cancel(true));
  }

  @Override
  protected OutgoingRequest view(String url, String field, List<String> values) {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
    values.forEach(value -> request.header(field, value));
    return new JdkRequest(request.build());
  }

  @Override
  protected void assertCancelled(Throwable failure) {
    assertThat(failure).isInstanceOf(CancellationException.class);
  }

  @Override
  protected void assertInterrupted(Throwable failure) {
    assertThat(failure).isInstanceOf(InterruptedException.class);
  }

  @Test
  void localAnswer_isMarkedAndHasItsRequest() throws Exception {
    use(oneASecond());
    assertThat(RateLimitedHttpClient.isLocal(send())).isFalse();
    for (HttpResponse<String> refused : List.of(send(), sendAsync().join())) {
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.uri()).isEqualTo(request().uri());
      assertThat(refused.request().uri()).isEqualTo(request().uri());
      assertThat(refused.previousResponse()).isEmpty();
      assertThat(refused.sslSession()).isEmpty();
      assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
      assertThat(RateLimitedHttpClient.isLocal(refused)).isTrue();
    }
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
        new Send<>(
            admission -> exchange, refusal -> CompletableFuture.failedFuture(new IOException()));
    OutgoingLimiter limiter = remembering().build();
    send.waitsWith(limiter.admit(new JdkRequest(request()), send::admitted));
    assertThat(exchange).isNotDone();
    send.result().thenApply(HttpResponse::statusCode).cancel(true);
    assertThat(exchange).isCancelled();
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

  /** The response is there long before its body has ended. */
  @Test
  void bodyIsAStream_seatIsHeldUntilItIsReadOrClosed() throws Exception {
    use(twoAtOnce());
    HttpRequest open = HttpRequest.newBuilder(URI.create(url() + "open")).build();
    InputStream closed = client.send(open, BodyHandlers.ofInputStream()).body();
    InputStream read = client.send(open, BodyHandlers.ofInputStream()).body();
    assertThat(free()).isZero();
    closed.close();
    untilFree(1);
    upstream.ends.release(2);
    assertThat(read.readAllBytes()).hasSize(1);
    untilFree(2);
  }
}
