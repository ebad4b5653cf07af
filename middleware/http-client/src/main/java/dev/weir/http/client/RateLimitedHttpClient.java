package dev.weir.http.client;

import dev.weir.engine.Ticket;
import dev.weir.http.outgoing.Admission;
import dev.weir.http.outgoing.LocalRefusal;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.RateLimitedException;
import java.io.IOException;
import java.net.Authenticator;
import java.net.ConnectException;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.net.http.HttpTimeoutException;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * The JDK's HTTP client with an {@link OutgoingLimiter} that decides a request before it is sent
 * and reads the response. All code that takes an {@link HttpClient} can use it, for example Feign's
 * {@code Http2Client} and Spring's {@code JdkClientHttpRequestFactory}. Safe for use by many
 * threads.
 *
 * <p>A refused request is not sent: it is answered with status 429 or 503 and a body of no bytes,
 * or fails with a {@link RateLimitedException}; {@link #isLocal} distinguishes such an answer from
 * a service's. The limiter sends no request again, and requests that the JDK itself sends again
 * (redirects, authentication) are charged once. WebSockets are not limited.
 *
 * <p>{@code send} waits on the caller's thread, until it is interrupted. {@code sendAsync} blocks
 * no thread; {@code cancel(true)} on its future, or on one derived from it, cancels the request; a
 * request that is cancelled while it waits is not charged. A request waits at most for its own
 * {@link HttpRequest#timeout timeout}, which begins anew when it is sent.
 *
 * <p>Since Java 21 a client can be shut down: these methods call the wrapped client's, and requests
 * that still wait fail when it is their turn.
 */
public final class RateLimitedHttpClient extends HttpClient {
  /** The longest wait: more than any limiter allows, and still a number of nanoseconds. */
  private static final Duration LONGEST = Duration.ofDays(366);

  private final HttpClient client;
  private final OutgoingLimiter limiter;

  private RateLimitedHttpClient(HttpClient client, OutgoingLimiter limiter) {
    this.client = client;
    this.limiter = limiter;
  }

  /** Returns a client that sends requests through the given client if the limiter admits them. */
  public static RateLimitedHttpClient of(HttpClient client, OutgoingLimiter limiter) {
    return new RateLimitedHttpClient(client, limiter);
  }

  /** Returns whether a response was made here, because its request was refused and not sent. */
  public static boolean isLocal(HttpResponse<?> response) {
    return response instanceof LocalResponse<?>;
  }

  /**
   * Sends a request if it may be sent, and waits for the response.
   *
   * @throws RateLimitedException if it may not, and the limiter is to throw
   */
  @Override
  public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
      throws IOException, InterruptedException {
    Admission admission = admission(request);
    LocalRefusal refusal = admission.refusal();
    if (refusal != null) {
      return refused(request, refusal, handler);
    }
    HttpResponse<T> response;
    try {
      response = client.send(request, SeatedBody.of(handler, admission));
    } catch (IllegalArgumentException e) {
      admission.notSent(); // The request cannot be sent.
      throw e;
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      failed(admission, e);
      throw e;
    }
    received(admission, response);
    return response;
  }

  private Admission admission(HttpRequest request) throws InterruptedException {
    CompletableFuture<Admission> admission = new CompletableFuture<>();
    Ticket ticket =
        limiter.admit(new JdkRequest(request), maxWaitNanos(request), admission::complete);
    try {
      return admission.get();
    } catch (InterruptedException e) {
      if (!ticket.leave()) {
        admission.join().notSent(); // It is being completed.
      }
      throw e;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // It is only completed with values.
    }
  }

  private <T> HttpResponse<T> refused(
      HttpRequest request, LocalRefusal refusal, BodyHandler<T> handler)
      throws IOException, InterruptedException {
    if (limiter.throwsOnRefusal()) {
      throw new RateLimitedException(refusal);
    }
    try {
      return LocalResponse.of(request, refusal, handler).toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause()); // The error is from the caller's handler.
    }
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, BodyHandler<T> handler) {
    return sendAsync(request, handler, body -> client.sendAsync(request, body));
  }

  @Override
  public <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request, BodyHandler<T> handler, PushPromiseHandler<T> pushPromises) {
    return sendAsync(request, handler, body -> client.sendAsync(request, body, pushPromises));
  }

  private <T> CompletableFuture<HttpResponse<T>> sendAsync(
      HttpRequest request,
      BodyHandler<T> handler,
      Function<BodyHandler<T>, CompletableFuture<HttpResponse<T>>> exchange) {
    Send<T> send =
        new Send<>(
            admission -> exchange.apply(SeatedBody.of(handler, admission)),
            refusal -> answer(request, refusal, handler));
    send.waitsWith(limiter.admit(new JdkRequest(request), maxWaitNanos(request), send::admitted));
    return send.result();
  }

  private <T> CompletionStage<HttpResponse<T>> answer(
      HttpRequest request, LocalRefusal refusal, BodyHandler<T> handler) {
    return limiter.throwsOnRefusal()
        ? CompletableFuture.failedFuture(new RateLimitedException(refusal))
        : LocalResponse.of(request, refusal, handler);
  }

  private static long maxWaitNanos(HttpRequest request) {
    return request
        .timeout()
        .filter(timeout -> timeout.compareTo(LONGEST) < 0)
        .map(Duration::toNanos)
        .orElse(Long.MAX_VALUE);
  }

  /** Passes the outcome of a request to a limiter. */
  static void received(Admission admission, HttpResponse<?> response) {
    admission.received(
        new JdkRequest(response.request()), response.statusCode(), response.headers()::allValues);
  }

  /** Passes the failure of a request to a limiter. */
  static void failed(Admission admission, Throwable failure) {
    if (failure instanceof HttpTimeoutException || failure instanceof ConnectException) {
      admission.timedOut();
    } else {
      admission.ended();
    }
  }

  @Override
  public Optional<CookieHandler> cookieHandler() {
    return client.cookieHandler();
  }

  @Override
  public Optional<Duration> connectTimeout() {
    return client.connectTimeout();
  }

  @Override
  public Redirect followRedirects() {
    return client.followRedirects();
  }

  @Override
  public Optional<ProxySelector> proxy() {
    return client.proxy();
  }

  @Override
  public SSLContext sslContext() {
    return client.sslContext();
  }

  @Override
  public SSLParameters sslParameters() {
    return client.sslParameters();
  }

  @Override
  public Optional<Authenticator> authenticator() {
    return client.authenticator();
  }

  @Override
  public Version version() {
    return client.version();
  }

  @Override
  public Optional<Executor> executor() {
    return client.executor();
  }

  @Override
  public WebSocket.Builder newWebSocketBuilder() {
    return client.newWebSocketBuilder();
  }

  // Since Java 21 the methods below override those of HttpClient. Its own do nothing.

  /** Shuts the wrapped client down, since Java 21: it completes its requests and takes no more. */
  public void shutdown() {
    NewerMethods.shutdown(client);
  }

  /**
   * Waits until the wrapped client is terminated, since Java 21.
   *
   * @return false if it was not terminated in this time; before Java 21 always true
   */
  public boolean awaitTermination(Duration duration) throws InterruptedException {
    return NewerMethods.awaitTermination(client, duration);
  }

  /** Returns whether the wrapped client is terminated; before Java 21 always false. */
  public boolean isTerminated() {
    return NewerMethods.isTerminated(client);
  }

  /** Shuts the wrapped client down and aborts its requests, since Java 21. */
  public void shutdownNow() {
    NewerMethods.shutdownNow(client);
  }

  /** Closes the wrapped client, which waits for its requests, since Java 21. */
  public void close() {
    NewerMethods.close(client);
  }

  @Override
  public String toString() {
    return "RateLimitedHttpClient(" + client + ")";
  }
}
