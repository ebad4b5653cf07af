package dev.weir.server;

import io.vertx.core.http.HttpConnection;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Closes HTTP connections that keep the server waiting. Confined to one event loop.
 *
 * <p>Each connection has one deadline, moved by events and looked at now and then: it must send its
 * first request within the request timeout, complete every request within the same, and send the
 * next one within the idle timeout. How many bytes trickle in meanwhile makes no difference.
 */
final class ConnectionGuard {
  private final long requestNanos;
  private final long idleNanos;
  private final DoorCounters counters;
  private final Map<HttpConnection, long[]> deadlines = new IdentityHashMap<>();

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
          deadlines.remove(connection);
        });
    if (room) {
      deadlines.put(connection, new long[] {now + requestNanos});
    } else {
      connection.close();
    }
  }

  /** A request's head is here; the rest must follow. */
  void requestBegan(HttpConnection connection, long now) {
    move(connection, now + requestNanos);
  }

  void requestEnded(HttpConnection connection, long now) {
    move(connection, now + idleNanos);
  }

  private void move(HttpConnection connection, long deadline) {
    long[] known = deadlines.get(connection);
    if (known != null) {
      known[0] = deadline;
    }
  }

  /** Closes what is too late. */
  void sweep(long now) {
    List<HttpConnection> late = new ArrayList<>();
    deadlines.forEach(
        (connection, deadline) -> {
          if (now - deadline[0] > 0) {
            late.add(connection);
          }
        });
    for (HttpConnection connection : late) {
      deadlines.remove(connection);
      counters.timedOut();
      connection.close();
    }
  }
}
