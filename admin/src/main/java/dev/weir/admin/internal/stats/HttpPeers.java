package dev.weir.admin.internal.stats;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The connection to other servers over HTTP. Safe for use by many threads. */
public final class HttpPeers implements Peers {
  /** Made when it is first needed: most servers send no requests to others. */
  private @Nullable HttpClient client;

  private synchronized HttpClient client() {
    HttpClient made = client;
    if (made == null) {
      made =
          HttpClient.newBuilder()
              .version(HttpClient.Version.HTTP_1_1)
              .followRedirects(HttpClient.Redirect.NEVER)
              .connectTimeout(Duration.ofMillis(MOST_MILLIS))
              .build();
      client = made;
    }
    return made;
  }

  @Override
  public CompletableFuture<String> get(String address, String path, String authorization) {
    HttpRequest request;
    try {
      request =
          HttpRequest.newBuilder(URI.create(address + path))
              .timeout(Duration.ofMillis(MOST_MILLIS))
              .header("Authorization", authorization)
              .build();
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(new IOException("address: " + address, e));
    }
    return client()
        .sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8))
        .orTimeout(MOST_MILLIS, TimeUnit.MILLISECONDS)
        .thenApply(HttpPeers::body);
  }

  private static String body(HttpResponse<String> answer) {
    if (answer.statusCode() != 200) {
      throw new CompletionException(new IOException("answered " + answer.statusCode()));
    }
    return answer.body();
  }

  /** Returns in a few words why a server did not answer. */
  static String why(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof HttpTimeoutException
        || cause instanceof java.util.concurrent.TimeoutException) {
      return "no answer within " + MOST_MILLIS / 1_000 + " s";
    }
    return cause.getMessage() == null ? "cannot be reached" : cause.getMessage();
  }
}
