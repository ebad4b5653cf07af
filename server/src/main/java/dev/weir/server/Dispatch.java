package dev.weir.server;

import dev.weir.Ticker;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Collects a request's body, within bounds, and hands it to the endpoint that it is for. Confined
 * to one event loop.
 */
final class Dispatch {
  private static final String HEALTH = "/healthcheck";

  private final Map<String, Endpoint> byPath = new HashMap<>();
  private final Tokens tokens;
  private final int maxBodyBytes;

  Dispatch(ServerSettings settings, List<Endpoint> endpoints, Tokens tokens) {
    this.tokens = tokens;
    endpoints.forEach(endpoint -> byPath.put(endpoint.path(), endpoint));
    maxBodyBytes = settings.value(Setting.MAX_BODY_BYTES);
  }

  void serve(HttpServerRequest request, ConnectionGuard<HttpConnection> guard, Ticker ticker) {
    guard.requestBegan(request.connection(), request, ticker.nanos());
    HttpServerResponse response = request.response();
    if (response.writeQueueFull()) {
      // The client asks on without reading what it asked for: it has to wait until it has.
      request.pause();
      response.drainHandler(
          drained -> {
            receive(request, guard, ticker);
            request.resume();
          });
    } else {
      receive(request, guard, ticker);
    }
  }

  private void receive(
      HttpServerRequest request, ConnectionGuard<HttpConnection> guard, Ticker ticker) {
    Body body = new Body(request);
    request.exceptionHandler(
        broken -> {
          body.refused = true;
          guard.requestEnded(request.connection(), request, ticker.nanos());
        });
    if (!known(request)) {
      request.response().putHeader("WWW-Authenticate", "Bearer");
      body.refuse(
          401, "Unauthorized", "Authorization: missing or wrong (expected: Bearer and a token)");
    } else if (declaredBytes(request) > maxBodyBytes) {
      body.refuse();
    }
    request.handler(body::add);
    request.endHandler(
        end -> {
          if (body.refused) {
            guard.requestEnded(request.connection(), request, ticker.nanos());
            if (request.version() != HttpVersion.HTTP_2) {
              request.connection().close();
            }
            return;
          }
          request
              .response()
              .endHandler(
                  done -> guard.requestEnded(request.connection(), request, ticker.nanos()));
          answer(request, body.bytes());
        });
  }

  /** Returns whether whoever asks may; everybody may ask whether the server is ready. */
  private boolean known(HttpServerRequest request) {
    if (!tokens.required() || HEALTH.equals(request.path())) {
      return true;
    }
    String authorization = request.getHeader(HttpHeaders.AUTHORIZATION);
    return authorization != null && tokens.acceptsBearer(authorization);
  }

  private static long declaredBytes(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? 0 : Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return 0; // The bytes will be counted as they come.
    }
  }

  private void answer(HttpServerRequest request, byte[] body) {
    Endpoint endpoint = byPath.get(request.path());
    if (endpoint == null) {
      Reply.problem(request, 404, "Not found", "No such path; GET / lists those there are.");
    } else if (!endpoint.accepts(request.method().name())) {
      request.response().putHeader("Allow", endpoint.allow());
      Reply.problem(
          request,
          405,
          "Method not allowed",
          "method: " + request.method().name() + " (expected: " + endpoint.allow() + ")");
    } else if (endpoint.typed() && !json(request.getHeader(HttpHeaders.CONTENT_TYPE))) {
      Reply.problem(
          request,
          415,
          "Unsupported media type",
          "Content-Type: "
              + request.getHeader(HttpHeaders.CONTENT_TYPE)
              + " (expected: application/json)");
    } else {
      try {
        endpoint.handler().handle(request, body);
      } catch (RuntimeException e) {
        Reply.failed(request, e);
      }
    }
  }

  /** A body that says nothing of its type may be JSON, and curl calls any body a form. */
  private static boolean json(@Nullable String contentType) {
    if (contentType == null || contentType.equals("application/json")) {
      return true;
    }
    String type = contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return type.equals("application/json")
        || type.endsWith("+json")
        || type.equals("application/x-www-form-urlencoded");
  }

  /** A body as far as it has come. */
  private final class Body {
    private final HttpServerRequest request;
    private @Nullable Buffer received;
    private boolean refused;

    Body(HttpServerRequest request) {
      this.request = request;
    }

    void add(Buffer chunk) {
      if (refused) {
        return; // Read and dropped until the client notices, or until it is too late.
      }
      if ((received == null ? 0 : received.length()) + chunk.length() > maxBodyBytes) {
        refuse();
      } else {
        received = received == null ? chunk : received.appendBuffer(chunk);
      }
    }

    private void refuse() {
      refuse(413, "Content too large", "body: more bytes (expected: at most " + maxBodyBytes + ")");
    }

    private void refuse(int status, String title, String detail) {
      refused = true;
      received = null;
      if (request.version() != HttpVersion.HTTP_2) { // Which has no such field. [RFC 9113, 8.2.2]
        request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      }
      Reply.problem(request, status, title, detail);
    }

    byte[] bytes() {
      return received == null ? new byte[0] : received.getBytes();
    }
  }
}
