package dev.weir.server.internal.http;

import dev.weir.protocol.http.ProblemType;
import dev.weir.protocol.http.RateLimitFields;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.log.Logs;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import java.util.Locale;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.logging.Level;

/** The sender of HTTP answers. */
final class Reply {
  static final CharSequence JSON = HttpHeaders.createOptimized("application/json");
  static final CharSequence PROBLEM = HttpHeaders.createOptimized("application/problem+json");
  static final CharSequence TEXT = HttpHeaders.createOptimized("text/plain; charset=utf-8");

  // Field names, encoded once.
  static final CharSequence CACHE_CONTROL = HttpHeaders.createOptimized("Cache-Control");
  static final CharSequence CONTENT_TYPE = HttpHeaders.createOptimized("Content-Type");
  static final CharSequence RETRY_AFTER = HttpHeaders.createOptimized("Retry-After");
  static final CharSequence RATE_LIMIT = HttpHeaders.createOptimized(RateLimitFields.RATE_LIMIT);
  static final CharSequence RATE_LIMIT_POLICY =
      HttpHeaders.createOptimized(RateLimitFields.RATE_LIMIT_POLICY);
  static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");

  /** The detail of a failure of the server, which is a bug. */
  static final String FAILED = "Internal error";

  static final String FAILED_DETAIL = "The server failed; its log has the details.";

  private Reply() {}

  static void send(HttpServerRequest request, int status, CharSequence type, String body) {
    send(request, status, type, Buffer.buffer(body));
  }

  static void send(HttpServerRequest request, int status, CharSequence type, byte[] body) {
    send(request, status, type, Buffer.buffer(body));
  }

  static void send(HttpServerRequest request, int status, CharSequence type, Buffer body) {
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.setStatusCode(status).putHeader(CONTENT_TYPE, type);
    if (HttpPeer.of(request.connection()).isEnding() && request.version() != HttpVersion.HTTP_2) {
      response.putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE); // [RFC 9113, 8.2.2]
    }
    if (request.method().equals(HttpMethod.HEAD)) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(body.length())).end();
    } else if (request.version() == HttpVersion.HTTP_2) {
      // Bytes that wait for the client's HTTP/2 window are in no socket buffer: they are counted
      // here.
      PendingBytes.Account account = HttpPeer.of(request.connection()).account();
      boolean unused = account.add(body.length());
      response.end(body).onComplete(sent -> account.add(-body.length()));
    } else {
      response.end(body);
    }
  }

  /** Answers with a problem. See {@link #problem(HttpServerRequest, int, String, String)}. */
  static void problem(HttpServerRequest request, HttpProblem problem) {
    problem(request, problem.status(), problem.title(), String.valueOf(problem.getMessage()));
  }

  /** Answers with a problem document, or only its detail if the client only accepts text. */
  static void problem(HttpServerRequest request, int status, String title, String detail) {
    HttpServerResponse response = request.response();
    if (response.closed() || response.ended()) {
      return;
    }
    response.putHeader(CACHE_CONTROL, NO_STORE);
    if (status == 503) {
      response.putHeader(RETRY_AFTER, "1");
    }
    if (acceptsText(request)) {
      send(request, status, TEXT, detail + "\n");
    } else {
      send(request, status, PROBLEM, ProblemType.document(status, title, detail));
    }
  }

  /** Answers that the server has failed, which is a bug. */
  static void failed(HttpServerRequest request, RuntimeException failure) {
    Logs.LOG.log(Level.SEVERE, "http: " + request.path() + " failed", failure);
    problem(request, 500, FAILED, FAILED_DETAIL);
  }

  /**
   * Returns a consumer that replies on the request's event loop, on whichever thread the store
   * answers. An answer after the loop has ended is dropped.
   */
  static <T> Consumer<T> onLoop(HttpServerRequest request, Consumer<? super T> reply) {
    ContextInternal loop = ((HttpServerRequestInternal) request).context();
    return answer -> {
      if (loop.inThread()) {
        reply.accept(answer);
        return;
      }
      try {
        loop.runOnContext(
            now -> {
              try {
                reply.accept(answer);
              } catch (RuntimeException e) {
                failed(request, e);
              }
            });
      } catch (RejectedExecutionException e) {
        Logs.LOG.log(Level.FINE, "http: an answer came too late", e);
      }
    };
  }

  /** Returns whether the client accepts plain text but not JSON. */
  static boolean acceptsText(HttpServerRequest request) {
    String accept = request.getHeader(HttpHeaders.ACCEPT);
    if (accept == null || accept.equals("*/*") || accept.equals("application/json")) {
      return false; // These are the usual values.
    }
    boolean text = false;
    for (String each : accept.toLowerCase(Locale.ROOT).split(",", 32)) {
      String type = each.split(";", 2)[0].strip();
      if (type.equals("*/*") || type.equals("application/*") || type.endsWith("json")) {
        return false;
      }
      text |= type.equals("text/plain") || type.equals("text/*");
    }
    return text;
  }
}
