package dev.weir.server.http;

import dev.weir.Ticker;
import dev.weir.server.door.ConnectionGuard;
import dev.weir.server.door.Tokens;
import dev.weir.server.settings.ServerSettings;
import dev.weir.server.settings.Settings;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.Arrays;
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
  private static final byte[] NONE = {};

  /** Approximate size of the objects of a header field. */
  private static final int FIELD_BYTES = 100;

  private final Map<String, Endpoint> byPath = new HashMap<>();
  private final Tokens tokens;
  private final int maxBodyBytes;

  Dispatch(ServerSettings settings, List<Endpoint> endpoints, Tokens tokens) {
    this.tokens = tokens;
    endpoints.forEach(endpoint -> byPath.put(endpoint.path(), endpoint));
    maxBodyBytes = settings.value(Settings.MAX_BODY_BYTES);
  }

  void serve(HttpServerRequest request, ConnectionGuard<HttpConnection> guard, Ticker ticker) {
    guard.requestBegan(request.connection(), request, ticker.nanos());
    HttpServerResponse response = request.response();
    if (response.writeQueueFull()) {
      // The client sends more requests without reading the answers: it has to wait until it reads
      // them.
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
    long declared = declaredBytes(request);
    Body body = new Body(request, declared);
    request.exceptionHandler(
        broken -> {
          body.refused = true;
          body.forget();
          guard.requestEnded(request.connection(), request, ticker.nanos());
        });
    body.peer.began(body);
    if (body.refused) {
      return; // Its error is already known and answered.
    }
    if (!known(request)) {
      request.response().putHeader("WWW-Authenticate", "Bearer");
      body.refuse(
          401, "Unauthorized", "Authorization: missing or wrong (expected: Bearer and a token)");
    } else if (declared > maxBodyBytes) {
      body.refuse();
    }
    request.handler(body::add);
    request.endHandler(
        end -> {
          body.peer.ended(body);
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
                  done -> {
                    body.peer.answered();
                    guard.requestEnded(request.connection(), request, ticker.nanos());
                  });
          answer(request, body.bytes());
        });
  }

  /** Returns whether the client is authorized; the health check needs no token. */
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
      Reply.problem(request, 404, "Not found", "No such path; GET / lists all paths.");
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

  /** A body without a type may be JSON, and curl declares any body a form. */
  private static boolean json(@Nullable String contentType) {
    if (contentType == null || contentType.equals("application/json")) {
      return true;
    }
    String type = contentType.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    return type.equals("application/json")
        || type.endsWith("+json")
        || type.equals("application/x-www-form-urlencoded");
  }

  /** Answers bytes that are not a request. */
  void refuse(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    if (cause instanceof HttpProblem problem) {
      Reply.problem(request, problem);
    } else if (cause instanceof TooLongHttpLineException) {
      Reply.problem(request, 414, "URI too long", "request line: too long");
    } else if (cause instanceof TooLongHttpHeaderException) {
      Reply.problem(request, 431, "Header fields too large", "head: too long");
    } else {
      Reply.problem(request, 400, "Bad request", "head: not understood (expected: HTTP/1.1)");
    }
  }

  /** The part of a body that has arrived. */
  private final class Body implements HttpPeer.Unfinished {
    private final HttpServerRequest request;
    private final HttpPeer peer;
    private final long declared;

    /** The body, if it arrived in one piece. */
    private @Nullable Buffer only;

    /** The pieces that have arrived, if it did not. */
    private byte[] received = NONE;

    private int size;
    private long headBytes;
    private long told;
    private boolean refused;

    Body(HttpServerRequest request, long declared) {
      this.request = request;
      this.declared = declared;
      peer = HttpPeer.of(request.connection());
      if (request.version() == HttpVersion.HTTP_2) {
        headBytes = headBytes(request);
        boolean unused = tell(headBytes);
      }
    }

    /**
     * Returns the approximate size of the fields of a head: many heads may wait on one HTTP/2
     * connection.
     */
    private static long headBytes(HttpServerRequest request) {
      long bytes = 0;
      for (Map.Entry<String, String> field : request.headers()) {
        bytes += FIELD_BYTES + field.getKey().length() + field.getValue().length();
      }
      return bytes;
    }

    void add(Buffer chunk) {
      if (refused) {
        return; // Read and dropped until the client notices, or until it is too late.
      }
      int length = chunk.length();
      if (size + length > maxBodyBytes) {
        refuse();
      } else if (length == declared && request.version() != HttpVersion.HTTP_2) {
        size = length;
        only = chunk; // The usual case: it is read at once, and so not counted in the budget.
      } else {
        append(chunk, length);
      }
    }

    /** Adds a piece. Memory grows by the bytes that have arrived, never by the announced length. */
    private void append(Buffer chunk, int length) {
      if (size + length > received.length) {
        int wanted = size + length + (size + length) / 4;
        if (!tell(headBytes + wanted)) {
          return;
        }
        received = Arrays.copyOf(received, wanted);
      }
      chunk.getBytes(0, length, received, size);
      size += length;
    }

    /** Counts the kept bytes in the budget; returns whether they may be kept. */
    private boolean tell(long bytes) {
      long change = bytes - told;
      told = bytes;
      boolean unused = peer.account().add(change);
      return !refused;
    }

    private void refuse() {
      refuse(413, "Content too large", "body: more bytes (expected: at most " + maxBodyBytes + ")");
    }

    private void refuse(int status, String title, String detail) {
      refused = true;
      forget();
      if (request.version() != HttpVersion.HTTP_2) { // Which has no such field. [RFC 9113, 8.2.2]
        request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      }
      Reply.problem(request, status, title, detail);
    }

    /** Ends a body whose rest will not arrive or is not wanted: the connection is closed. */
    @Override
    public void refuse(HttpProblem problem) {
      if (!refused) {
        refuse(problem.status(), problem.title(), String.valueOf(problem.getMessage()));
      }
      request.connection().close();
    }

    private void forget() {
      only = null;
      received = NONE;
      size = 0;
      boolean unused = tell(0);
    }

    /** Returns the whole body and frees it. */
    byte[] bytes() {
      byte[] whole = only != null ? only.getBytes() : Arrays.copyOf(received, size);
      forget();
      return whole;
    }
  }
}
