package dev.weir.okhttp;

import dev.weir.engine.Ticket;
import dev.weir.http.outgoing.Admission;
import dev.weir.http.outgoing.LocalRefusal;
import dev.weir.http.outgoing.OutgoingLimiter;
import dev.weir.http.outgoing.RateLimitedException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
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
 * An interceptor by which an {@link OutgoingLimiter} decides a request before OkHttp sends it, and
 * reads the response. To be added by {@code OkHttpClient.Builder.addInterceptor}, not by {@code
 * addNetworkInterceptor}, which must send every request. Safe for use by many threads; Retrofit and
 * Feign are served through their OkHttp client.
 *
 * <p>A refused request is not sent: it is answered with status 429 or 503 without a body, or fails
 * with a {@link RateLimitedException}. {@link Response#networkResponse} of such an answer is null.
 * The interceptor sends no request again, and requests that OkHttp itself sends again (redirects,
 * authentication) are charged once. A request that OkHttp's cache answers is not charged.
 *
 * <p>A request that takes a seat of a limit at the same time gives it back when the body of its
 * response is read to its end or closed.
 *
 * <p>A request that waits keeps its thread: that of the caller, or for {@code Call.enqueue} one of
 * the dispatcher's, which by default has 64 and 5 for a host. It ends within 20 ms when the call is
 * cancelled or its call timeout is over, and at once when its thread is interrupted; it is not
 * charged then.
 */
public final class RateLimitInterceptor implements Interceptor {
  /**
   * The time between two checks for cancellation: OkHttp does not notify an interceptor of a
   * cancelled call.
   */
  private static final long LOOK_MILLIS = 20;

  static final int SWITCHING_PROTOCOLS = 101;

  private final OutgoingLimiter limiter;

  private RateLimitInterceptor(OutgoingLimiter limiter) {
    this.limiter = limiter;
  }

  /** Returns an interceptor that uses the limiter. */
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
    Response response = send(chain, admission);
    try {
      if (response.networkResponse() == null) {
        admission.notSent();
      } else {
        admission.received(
            new OkHttpRequest(response.request()), response.code(), response::headers);
      }
    } catch (RuntimeException | Error e) {
      response.close(); // The error is from the key's function, which is the user's.
      admission.ended();
      throw e;
    }
    return SeatedBody.in(response, admission);
  }

  private static Response send(Chain chain, Admission admission) throws IOException {
    boolean answered = false;
    try {
      Response response = chain.proceed(chain.request());
      answered = true;
      return response;
    } catch (SocketTimeoutException | ConnectException e) {
      if (!chain.call().isCanceled()) {
        admission.timedOut();
      }
      throw e;
    } finally {
      if (!answered) {
        admission.ended();
      }
    }
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

  /** Returns the exception that OkHttp itself throws. */
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
