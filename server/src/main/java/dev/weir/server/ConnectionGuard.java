package dev.weir.server;

import io.netty.channel.ChannelFuture;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Closes HTTP connections that keep the server waiting. Confined to one event loop.
 *
 * <p>Each connection has one deadline, moved by events and looked at now and then: it must send its
 * first request within the request timeout, complete every request and take its answer within the
 * same, and send the next one within the idle timeout. How many bytes trickle in meanwhile makes no
 * difference.
 */
final class ConnectionGuard {
  /** What is known of a connection. */
  private static final class Watched {
    private long deadline;
    private boolean answerUnread;

    Watched(long deadline) {
      this.deadline = deadline;
    }
  }

  private final long requestNanos;
  private final long idleNanos;
  private final DoorCounters counters;
  private final Map<HttpConnection, Watched> open = new HashMap<>();

  ConnectionGuard(long requestNanos, long idleNanos, DoorCounters counters) {
    this.requestNanos = requestNanos;
    this.idleNanos = idleNanos;
    this.counters = counters;
  }

  /** Takes a new connection in, or closes it if there are too many. */
  void opened(HttpConnection connection, long now) {
    boolean room = counters.opened();
    connection.closeHandler(
        closed -> {
          counters.closed();
          open.remove(connection);
        });
    if (room) {
      open.put(connection, new Watched(now + requestNanos));
    } else {
      connection.close();
    }
  }

  /** A request's head is here; the rest must follow. */
  void requestBegan(HttpConnection connection, long now) {
    Watched watched = open.get(connection);
    if (watched != null) {
      watched.deadline = now + requestNanos;
      watched.answerUnread = false;
    }
  }

  /** The answer is written, as far as the client reads. */
  void requestEnded(HttpConnection connection, long now) {
    Watched watched = open.get(connection);
    if (watched != null) {
      watched.answerUnread = !writable(connection);
      watched.deadline = now + (watched.answerUnread ? requestNanos : idleNanos);
    }
  }

  /** Closes what is too late. */
  void sweep(long now) {
    List<HttpConnection> late = new ArrayList<>();
    open.forEach(
        (connection, watched) -> {
          if (now - watched.deadline <= 0) {
            return;
          }
          if (watched.answerUnread && writable(connection)) {
            watched.answerUnread = false;
            watched.deadline = now + idleNanos;
          } else {
            late.add(connection);
          }
        });
    for (HttpConnection connection : late) {
      open.remove(connection);
      counters.timedOut();
      cut(connection);
    }
  }

  private static boolean writable(HttpConnection connection) {
    return !(connection instanceof HttpServerConnection transport)
        || transport.channelHandlerContext().channel().isWritable();
  }

  /** Closes without waiting for the client to read what it has been sent, as it may never do. */
  private static void cut(HttpConnection connection) {
    if (connection instanceof HttpServerConnection transport) {
      ChannelFuture unused = transport.channelHandlerContext().close();
    } else {
      connection.close();
    }
  }
}
