package dev.weir.server.internal.http;

import dev.weir.Ticker;
import dev.weir.admin.EventStream;
import dev.weir.server.internal.log.Logs;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerResponse;
import java.time.Duration;

/**
 * The sender of a stream of events to one client. A client that does not read gets nothing more, so
 * nothing is kept for it, and is cut off after {@link #PATIENCE}. Confined to the connection's
 * event loop.
 */
final class EventSending {
  /** The longest time that a client may leave events unread. */
  static final Duration PATIENCE = Duration.ofSeconds(30);

  private final HttpConnection connection;
  private final HttpServerResponse response;
  private final EventStream events;
  private final Ticker ticker;
  private final Runnable ending;
  private boolean full;
  private long fullNanos;

  /**
   * @param ending is run before the end of the answer is sent
   */
  EventSending(
      HttpConnection connection,
      HttpServerResponse response,
      EventStream events,
      Ticker ticker,
      Runnable ending) {
    this.connection = connection;
    this.response = response;
    this.events = events;
    this.ticker = ticker;
    this.ending = ending;
  }

  void closed() {
    events.end();
  }

  /** Sends the events that are due, as far as the client takes them. */
  void send() {
    if (response.closed() || response.ended()) {
      events.end();
      return;
    }
    while (!response.writeQueueFull()) {
      full = false;
      byte[] event = events.next();
      if (event == null) {
        ending.run();
        response.end();
        return;
      }
      if (event.length == 0) {
        return;
      }
      response.write(Buffer.buffer(event));
    }
    long now = ticker.nanos();
    if (!full) {
      full = true;
      fullNanos = now;
    } else if (now - fullNanos > PATIENCE.toNanos()) {
      Logs.LOG.fine("admin: a client does not read its events, cut off");
      events.end();
      connection.close();
    }
  }
}
