package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.server.internal.guard.ConnectionGuard;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The collector of a request's body, within bounds; it passes complete requests to the handler
 * behind the port. Confined to one event loop.
 */
final class Dispatch {
  private static final byte[] NONE = {};

  /** Approximate size of the objects of a header field. */
  private static final int FIELD_BYTES = 100;

  private final Requests behind;
  private final int maxBodyBytes;
  private final int paceBytes;

  Dispatch(Requests behind, HttpLimits limits) {
    this.behind = behind;
    maxBodyBytes = limits.bodyBytes();
    paceBytes = limits.paceBytes();
  }

  void serve(HttpServerRequest request, ConnectionGuard<HttpConnection> guard, Ticker ticker) {
    guard.requestBegan(request.connection(), request, ticker.nanos());
    HttpServerResponse response = request.response();
    if (response.writeQueueFull()) {
      // The client sends more requests without reading the answers: it must wait until it reads
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
    HttpProblem refusal = behind.refusal(request);
    if (refusal != null) {
      body.refuse(refusal.status(), refusal.title(), String.valueOf(refusal.getMessage()));
    } else if (declared > maxBodyBytes) {
      body.refuse();
    }
    request.handler(
        chunk -> {
          if (body.add(chunk)) {
            guard.waitsForClient(request.connection(), request, ticker.nanos());
          }
        });
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
          answer(request, body.bytes(), new Wait(request, guard, ticker));
        });
  }

  private void answer(HttpServerRequest request, byte[] body, Wait wait) {
    try {
      behind.answer(request, body, wait);
    } catch (RuntimeException e) {
      Reply.failed(request, e);
    }
  }

  private record Wait(
      HttpServerRequest request, ConnectionGuard<HttpConnection> guard, Ticker ticker)
      implements Requests.Wait {
    @Override
    public void forClient() {
      guard.waitsForClient(request.connection(), request, ticker.nanos());
    }

    @Override
    public void forServer() {
      guard.waitsForServer(request.connection(), request, ticker.nanos());
    }
  }

  private static long declaredBytes(HttpServerRequest request) {
    String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
    try {
      return length == null ? 0 : Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return 0; // The bytes are counted as they come.
    }
  }

  /**
   * Returns the approximate size of a request's fields. Many requests may wait on one HTTP/2
   * connection, and one on each other connection.
   */
  static long headBytes(HttpServerRequest request) {
    long bytes = 0;
    for (Map.Entry<String, String> field : request.headers()) {
      bytes += FIELD_BYTES + field.getKey().length() + field.getValue().length();
    }
    return bytes;
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
  private final class Body implements HttpPeer.UnfinishedRequest {
    private final HttpServerRequest request;
    private final HttpPeer peer;
    private final long declared;

    /** The body, if it arrived in one piece. */
    private @Nullable Buffer only;

    /** The pieces that have arrived, if it did not. */
    private byte[] received = NONE;

    private int size;
    private int paces;
    private long headBytes;
    private long told;
    private boolean refused;

    Body(HttpServerRequest request, long declared) {
      this.request = request;
      this.declared = declared;
      peer = HttpPeer.of(request.connection());
      if (request.version() == HttpVersion.HTTP_2) {
        headBytes = headBytes(request);
        boolean unused = account(headBytes);
      }
    }

    /** Adds a piece; returns whether enough bytes have come for its deadline to begin anew. */
    boolean add(Buffer chunk) {
      if (refused) {
        return false; // It is read and dropped until the client notices, or its deadline.
      }
      int length = chunk.length();
      if (size + length > maxBodyBytes) {
        refuse();
      } else if (length > 0 && length == declared && request.version() != HttpVersion.HTTP_2) {
        size = length;
        only = chunk; // The usual case: it is read at once, so the budget does not count it.
      } else {
        append(chunk, length);
      }
      int before = paces;
      paces = paceBytes == 0 ? 0 : size / paceBytes;
      return paces > before;
    }

    /** Adds a piece. Memory grows by the bytes that have arrived, not by the announced length. */
    private void append(Buffer chunk, int length) {
      if (size + length > received.length) {
        int wanted = size + length + (size + length) / 4;
        if (!account(headBytes + wanted)) {
          return;
        }
        received = Arrays.copyOf(received, wanted);
      }
      chunk.getBytes(0, length, received, size);
      size += length;
    }

    /** Counts the kept bytes in the budget; returns whether they may be kept. */
    private boolean account(long bytes) {
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
      if (request.version() != HttpVersion.HTTP_2) { // HTTP/2 has no such field. [RFC 9113, 8.2.2]
        request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      }
      Reply.problem(request, status, title, detail);
    }

    /** Ends a body whose rest will not arrive or is not needed: the connection is closed. */
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
      boolean unused = account(0);
    }

    /** Returns the whole body and frees it. */
    byte[] bytes() {
      byte[] whole = only != null ? only.getBytes() : Arrays.copyOf(received, size);
      forget();
      return whole;
    }
  }
}
