package dev.weir.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.http.outgoing.OutgoingContract;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.OutgoingRequest;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import okhttp3.Cache;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RateLimitInterceptorTest extends OutgoingContract {
  private OkHttpClient client = new OkHttpClient();

  @AfterEach
  void closeClient() {
    client.dispatcher().executorService().shutdownNow();
    client.connectionPool().evictAll();
  }

  @Override
  protected void limitBy(OutgoingLimiter limiter) {
    client = client.newBuilder().addInterceptor(RateLimitInterceptor.of(limiter)).build();
  }

  private Call call() {
    return client.newCall(new Request.Builder().url(url()).build());
  }

  private static Reply read(Response response) throws IOException {
    try (response) {
      return new Reply(
          response.code(),
          response.header("Retry-After"),
          Objects.requireNonNull(response.body()).string());
    }
  }

  @Override
  protected Reply send(String url, @Nullable String body) throws IOException {
    Request.Builder request = new Request.Builder().url(url);
    if (body != null) {
      request.post(RequestBody.create(body, null));
    }
    return read(client.newCall(request.build()).execute());
  }

  @Override
  protected Exchange sendAsync(String url) {
    Call call = client.newCall(new Request.Builder().url(url).build());
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    call.enqueue(
        new Callback() {
          @Override
          public void onFailure(Call call, IOException e) {
            reply.completeExceptionally(e);
          }

          @Override
          public void onResponse(Call call, Response response) throws IOException {
            reply.complete(read(response));
          }
        });
    return new Exchange(reply, call::cancel);
  }

  @Override
  protected OutgoingRequest view(String url, String field, List<String> values) {
    Request.Builder request = new Request.Builder().url(url);
    values.forEach(value -> request.addHeader(field, value));
    return new OkHttpRequest(request.build());
  }

  @Override
  protected void assertCancelled(Throwable failure) {
    assertThat(failure).isInstanceOf(IOException.class).hasMessage("Canceled");
  }

  @Override
  protected void assertInterrupted(Throwable failure) {
    assertThat(failure).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void localAnswer_cameOverNoNetwork() throws IOException {
    use(oneASecond());
    send(url(), null);
    try (Response response = call().execute()) {
      assertThat(response.code()).isEqualTo(429);
      assertThat(response.message()).isEqualTo("Too Many Requests");
      assertThat(response.networkResponse()).isNull();
    }
  }

  @Test
  void requestAnsweredByTheCache_isNotCharged(@TempDir Path folder) throws Exception {
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
  void callTimeoutWhileItWaits_endsIt() throws Exception {
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
