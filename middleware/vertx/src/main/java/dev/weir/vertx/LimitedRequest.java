package dev.weir.vertx;

import dev.weir.engine.Ticket;
import dev.weir.http.Refusal;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One request on its path through a limiter. All of its steps are in the request's own context. */
final class LimitedRequest {
  private final RequestLimiter limiter;
  private final RoutingContext routing;
  private final String key;
  private final Context context;

  private Ticket ticket = Ticket.USED;
  private @Nullable Verdict passed;
  private @Nullable UploadHold hold;
  private boolean watched;
  private boolean asking;
  private boolean pending;
  private boolean queued;
  private boolean ended;

  LimitedRequest(RequestLimiter limiter, RoutingContext routing, String key) {
    this.limiter = limiter;
    this.routing = routing;
    this.key = key;
    this.context = routing.vertx().getOrCreateContext();
  }

  void begin() {
    RoutedRequest view = new RoutedRequest(routing);
    decide(done -> limiter.decide(view, done));
  }

  /** Requests a verdict; if none comes at once, the request is paused until it does. */
  private void decide(Consumer<Consumer<Verdict>> question) {
    Thread asker = Thread.currentThread();
    pending = true;
    asking = true;
    try {
      question.accept(
          verdict -> {
            // Only the calling thread reads the values that it has written.
            if (Thread.currentThread() == asker && asking) {
              decided(verdict);
            } else {
              context.runOnContext(unused -> decided(verdict));
            }
          });
    } finally {
      asking = false;
    }
    if (pending && !routing.request().isEnded()) {
      routing.request().pause();
      if (hold == null) {
        hold = UploadHold.begin(routing.request());
      }
    }
    if (pending) {
      watch();
    }
  }

  private void decided(Verdict verdict) {
    asking = false; // The next handlers may request verdicts, too.
    pending = false;
    HttpServerResponse response = routing.response();
    if (ended || response.ended() || response.closed()) {
      verdict.abandoned();
    } else if (verdict.passes()) {
      pass(verdict);
    } else if (!queued && verdict.maxWaitNanos() > 0) {
      queued = true;
      decide(done -> ticket = verdict.enqueue(Long.MAX_VALUE, done));
    } else {
      refuse(verdict);
    }
  }

  private void pass(Verdict verdict) {
    passed = verdict;
    routing.put(key, verdict);
    verdict.fields(routing.response().headers()::add);
    watch();
    resume();
    routing.next();
  }

  private void refuse(Verdict verdict) {
    Refusal refusal = verdict.refusal();
    HttpServerResponse response = routing.response();
    response.setStatusCode(verdict.status());
    verdict.fields(response.headers()::add);
    response.putHeader(HttpHeaders.CONTENT_TYPE, refusal.contentType());
    resume(); // The rest of the body is read and dropped.
    if (routing.request().method().equals(HttpMethod.HEAD)) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(refusal.length())).end();
    } else {
      response.end(Buffer.buffer(refusal.bytes()));
    }
  }

  private void resume() {
    if (!routing.request().isEnded()) {
      routing.request().resume();
    }
    UploadHold holding = hold;
    if (holding != null) {
      hold = null;
      holding.end();
    }
  }

  private void watch() {
    if (!watched) {
      watched = true;
      routing.addHeadersEndHandler(head -> responded());
      routing.addEndHandler(this::ended);
    }
  }

  /** Ends the request: the response is complete, or the client has gone. */
  private void ended(AsyncResult<Void> result) {
    ended = true;
    if (ticket.leave()) {
      pending = false;
    }
    if (hold != null) {
      resume(); // Another handler has answered, and the connection goes on.
    }
    // The request of a client that goes before its answer may be one that counts: no permits back.
    if (result.succeeded() || routing.response().headWritten()) {
      responded();
    }
    Verdict served = passed;
    if (served != null) {
      served.ended();
    }
  }

  /** Records the outcome, which is final as soon as the head of the response is sent. */
  private void responded() {
    Verdict served = passed;
    if (served != null) {
      HttpServerResponse response = routing.response();
      served.responded(
          response.getStatusCode(),
          served.awaitsStatus() ? response.headers().get(HttpHeaders.LOCATION) : null);
    }
  }
}
