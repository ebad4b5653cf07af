package dev.weir.http.client;

import dev.weir.http.outgoing.LocalRefusal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLSession;

/**
 * The response to a request that was not sent. The caller's own handler makes the body, from no
 * bytes.
 */
record LocalResponse<T>(HttpRequest request, int statusCode, HttpHeaders headers, T body)
    implements HttpResponse<T> {
  private static final HttpClient.Version VERSION = HttpClient.Version.HTTP_1_1;

  private record Info(int statusCode, HttpHeaders headers) implements ResponseInfo {
    @Override
    public HttpClient.Version version() {
      return VERSION;
    }
  }

  /** A subscription without items. */
  private static final class NoBytes implements Flow.Subscription {
    @Override
    public void request(long bytes) {}

    @Override
    public void cancel() {}
  }

  static <T> CompletionStage<HttpResponse<T>> of(
      HttpRequest request, LocalRefusal refusal, BodyHandler<T> handler) {
    String retryAfter = refusal.retryAfter();
    Map<String, List<String>> fields =
        retryAfter == null
            ? Map.of("Content-Length", List.of("0"))
            : Map.of("Content-Length", List.of("0"), "Retry-After", List.of(retryAfter));
    HttpHeaders headers = HttpHeaders.of(fields, (name, value) -> true);
    BodySubscriber<T> body = handler.apply(new Info(refusal.status(), headers));
    body.onSubscribe(new NoBytes());
    body.onComplete();
    return body.getBody()
        .thenApply(made -> new LocalResponse<>(request, refusal.status(), headers, made));
  }

  @Override
  public Optional<HttpResponse<T>> previousResponse() {
    return Optional.empty();
  }

  @Override
  public Optional<SSLSession> sslSession() {
    return Optional.empty();
  }

  @Override
  public URI uri() {
    return request.uri();
  }

  @Override
  public HttpClient.Version version() {
    return VERSION;
  }
}
