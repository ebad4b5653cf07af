package dev.weir.okhttp;

import dev.weir.engine.Ticket;
import dev.weir.http.outgoing.Admission;
import dev.weir.http.outgoing.LocalRefusal;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.RateLimitedException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import okhttp3.Call;
import okhttp3.Interceptor;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.ResponseBody;

/**
 * Asks an {@link OutgoingLimiter} before OkHttp sends a request, and shows it the response. To be
 * added by {@code OkHttpClient.Builder.addInterceptor}, not by {@code addNetworkInterceptor}, which
 * must send every request. Safe for use by many threads; Retrofit and Feign are served through
 * their OkHttp client.
 *
 * <p>A refused request is not sent: it is answered with status 429 or 503 without a body, or fails
 * with a {@link RateLimitedException}. {@link Response#networkResponse} of such an answer is null.
 * Nothing is ever sent again, and what OkHttp itself sends again (redirects, authentication) is
 * charged once. A request that OkHttp's cache answers is not charged.
 *
 * <p>A request that waits keeps its thread: that of the caller, or for {@code Call.enqueue} one of
 * the dispatcher's, which by default has 64 and 5 for a host. It ends within 20 ms when the call is
 * cancelled or its call timeout is over, and at once when its thread is interrupted; it is not
 * charged then.
 */
public final class RateLimitInterceptor implements Interceptor {
  /** OkHttp tells an interceptor nothing of a cancelled call, so it has to look. */
  private static final long LOOK_MILLIS = 20;

  private final OutgoingLimiter limiter;

  private RateLimitInterceptor(OutgoingLimiter limiter) {
    this.limiter = limiter;
  }

  /** Returns an interceptor that asks the limiter. */
  public static RateLimitInterceptor of(OutgoingLimiter limiter) {
    return new RateLimitInterceptor(limiter);
  }

  /**
   * Sends a request if it may be sent.
   *
   * @throws RateLimitedException if it may not, and the limiter is to throw
   */
  @Override
  public Response intercept(Chain chain) throws IOException {
    Request request = chain.request();
    Admission admission = admission(chain.call(), request);
    LocalRefusal refusal = admission.refusal();
    if (refusal != null) {
      if (limiter.throwsOnRefusal()) {
        throw new RateLimitedException(refusal);
      }
      return response(request, refusal);
    }
    if (chain.call().isCanceled()) {
      admission.notSent();
      throw canceled();
    }
    Response response = chain.proceed(request);
    try {
      if (response.networkResponse() == null) {
        admission.notSent();
      } else {
        admission.received(
            new OkHttpRequest(response.request()), response.code(), response::headers);
      }
    } catch (RuntimeException | Error e) {
      response.close(); // Of the key's function, which is the user's.
      throw e;
    }
    return response;
  }

  private Admission admission(Call call, Request request) throws IOException {
    CompletableFuture<Admission> admission = new CompletableFuture<>();
    Ticket ticket = limiter.admit(new OkHttpRequest(request), admission::complete);
    while (true) {
      try {
        return admission.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (call.isCanceled() && ticket.leave()) {
          throw canceled();
        }
      } catch (InterruptedException e) {
        if (!ticket.leave()) {
          admission.join().notSent(); // It is being completed.
        }
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted");
      } catch (ExecutionException e) {
        throw new IllegalStateException(e); // It is only completed with values.
      }
    }
  }

  /** What OkHttp throws itself. */
  private static IOException canceled() {
    return new IOException("Canceled");
  }

  private static Response response(Request request, LocalRefusal refusal) {
    Response.Builder response =
        new Response.Builder()
            .request(request)
            .protocol(Protocol.HTTP_1_1)
            .code(refusal.status())
            .message(refusal.reasonPhrase())
            .body(ResponseBody.create("", null));
    String retryAfter = refusal.retryAfter();
    if (retryAfter != null) {
      response.header("Retry-After", retryAfter);
    }
    return response.build();
  }
}
