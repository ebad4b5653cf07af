package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.admin.AdminCaller;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.EventStream;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.log.Logs;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.Iterator;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;

/** One request for administration, with the answer that it gets piece by piece. */
final class AdminExchange {
  /*
   * How is AdminExchange designed, and why? A handler may wait, for a store or for other servers,
   * so it runs on a worker; everything else happens on the event loop of the connection. A piece of
   * the answer is read from the handler when the client has taken the one before it, by the state
   * of the socket. While the client reads, no worker waits: the next step is run when the
   * connection drains. So eight clients that read slowly do not hold up all others.
   *
   * At any time there is at most one step of an exchange, on a worker or on the event loop, and it
   * passes control to the next through the queue of the other. So the fields need no lock.
   */

  /** The bytes that are passed to the connection at once. */
  private static final int SLICE_BYTES = 64 << 10;

  private static final byte[] NONE = {};

  /** The fields that the transport sets by itself. */
  private static final Set<String> OWN_FIELDS =
      Set.of("content-length", "transfer-encoding", "connection", "keep-alive", "upgrade");

  private final HttpServerRequest request;
  private final HttpServerResponse response;
  private final BiFunction<AdminRequest, HttpConnection, AdminResponse> handler;
  private final AdminWorkers workers;
  private final AdminCaller caller;
  private final Requests.Wait wait;
  private final Ticker ticker;
  private final PendingBytes.Account account;
  private final Consumer<Runnable> loop;

  /** True once the client has gone: the rest is of no use. */
  private volatile boolean gone;

  /** The first step, which may still wait; used on the event loop alone. */
  private AdminWorkers.@Nullable Step first;

  private @Nullable Iterator<byte[]> pieces;
  private byte[] piece = NONE;
  private int sent;
  private boolean more;

  /** True while the connection has no room for the next slice. */
  private boolean awaitsRoom;

  /** The deadlines of a request, and the time that they are measured in. */
  record Times(Requests.Wait side, Ticker ticker) {}

  /**
   * Creates an exchange.
   *
   * @param handler answers a request of a connection, on a worker
   * @param caller the caller, whose share of the workers the exchange takes
   */
  AdminExchange(
      HttpServerRequest request,
      BiFunction<AdminRequest, HttpConnection, AdminResponse> handler,
      AdminWorkers workers,
      AdminCaller caller,
      Times times) {
    this.request = request;
    this.response = request.response();
    this.handler = handler;
    this.workers = workers;
    this.caller = caller;
    wait = times.side();
    ticker = times.ticker();
    account = HttpPeer.of(request.connection()).account();
    loop = Reply.onLoop(request, Runnable::run);
  }

  /**
   * Starts the handling of the request.
   *
   * @param bytes the bytes of the body, which count as pending until it was handled
   */
  void begin(AdminRequest asked, int bytes) {
    response.closeHandler(closed -> gone(bytes));
    response.exceptionHandler(broken -> gone(bytes));
    if (!account.add(bytes)) {
      return; // The connection is being closed for lack of memory.
    }
    wait.forServer();
    first =
        workers.admit(
            caller,
            () -> {
              try {
                handle(asked);
              } finally {
                account.add(-bytes);
              }
            });
    if (first == null) {
      account.add(-bytes);
      wait.forClient();
      Reply.problem(request, 503, "Too much at once", workers.refusal(caller));
    }
  }

  /** Ends what is of no use without the client: its place is free at once. */
  private void gone(int bytes) {
    gone = true;
    if (first != null && first.drop()) {
      account.add(-bytes);
    }
  }

  /** Handles the request, on a worker. */
  private void handle(AdminRequest asked) {
    if (gone) {
      return;
    }
    try {
      AdminResponse answer = handler.apply(asked, request.connection());
      EventStream events = answer.events();
      if (events != null) {
        loop.accept(() -> stream(answer, events));
        return;
      }
      pieces = answer.body();
      advance();
      loop.accept(() -> head(answer));
    } catch (RuntimeException | Error e) {
      loop.accept(() -> Reply.failed(request, failure(e)));
      rethrow(e);
    }
  }

  private static RuntimeException failure(Throwable e) {
    return e instanceof RuntimeException failure ? failure : new IllegalStateException(e);
  }

  /** Throws an error again, which is counted; an exception is in the log already. */
  private static void rethrow(Throwable e) {
    if (e instanceof Error error) {
      throw error;
    }
  }

  /** Takes the next piece, on a worker. */
  private void advance() {
    Iterator<byte[]> from = pieces;
    piece = from != null && from.hasNext() ? from.next() : NONE;
    sent = 0;
    more = from != null && from.hasNext();
  }

  /** Sends events as they come, until they end or the client goes away. */
  private void stream(AdminResponse answer, EventStream events) {
    if (gone || response.closed() || response.ended()) {
      events.end();
      return;
    }
    fields(answer);
    if (request.method().equals(HttpMethod.HEAD)) {
      events.end();
      wait.forClient();
      response.end();
      return;
    }
    response.setChunked(true);
    EventSending sending =
        new EventSending(request.connection(), response, events, ticker, wait::forClient);
    response.closeHandler(closed -> sending.closed());
    response.exceptionHandler(broken -> sending.closed());
    response.drainHandler(drained -> sending.send());
    wait.forServer(); // EventSending has a deadline of its own for the client.
    events.begin(() -> loop.accept(sending::send));
  }

  private void fields(AdminResponse answer) {
    response.setStatusCode(answer.status());
    for (Map.Entry<String, String> field : answer.fields().entrySet()) {
      if (!OWN_FIELDS.contains(field.getKey().toLowerCase(Locale.ROOT))) {
        response.putHeader(field.getKey(), field.getValue());
      }
    }
  }

  private void head(AdminResponse answer) {
    if (gone || response.closed() || response.ended()) {
      return;
    }
    fields(answer);
    wait.forClient();
    boolean bodiless = answer.status() == 204 || answer.status() == 304;
    if (!more && !bodiless) {
      response.putHeader(HttpHeaders.CONTENT_LENGTH, Integer.toString(piece.length));
    }
    if (bodiless || request.method().equals(HttpMethod.HEAD)) {
      response.end();
      return;
    }
    response.setChunked(more);
    response.drainHandler(
        drained -> {
          if (awaitsRoom) {
            awaitsRoom = false;
            send();
          }
        });
    send();
  }

  /** Sends as much as the client takes, then goes on with the next piece. */
  private void send() {
    while (!gone && !response.closed()) {
      if (response.writeQueueFull()) {
        awaitsRoom = true;
        wait.forClient();
        return;
      }
      if (sent == piece.length) {
        next();
        return;
      }
      int length = Math.min(SLICE_BYTES, piece.length - sent);
      response.write(Buffer.buffer(length).appendBytes(piece, sent, length));
      sent += length;
    }
  }

  private void next() {
    piece = NONE;
    sent = 0;
    if (!more) {
      wait.forClient();
      response.end();
      return;
    }
    wait.forServer();
    if (!workers.run(caller, this::step)) {
      request.connection().close();
    }
  }

  /** Reads the next piece, on a worker. */
  private void step() {
    if (gone) {
      return;
    }
    try {
      advance();
      loop.accept(this::send);
    } catch (RuntimeException | Error e) {
      Logs.LOG.log(Level.WARNING, "admin: the rest of an answer cannot be had, cut off", e);
      loop.accept(() -> request.connection().close());
      rethrow(e);
    }
  }
}
