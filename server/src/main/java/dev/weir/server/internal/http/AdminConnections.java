package dev.weir.server.internal.http;

import dev.weir.server.internal.guard.DoorCounters;
import io.vertx.core.http.HttpConnection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The connections of the port for administration on all event loops. When there are many, the
 * oldest that has not sent an authorized request makes room for the newest. Safe for use by many
 * threads.
 */
final class AdminConnections {
  /*
   * Why is the oldest closed, and not the newest refused? Clients without a token that open
   * connections and send nothing would take all of them, and operators would be refused until the
   * request timeout. The newest connection may be an operator's, who sends a request with a token
   * at once. From then on its connection is not closed for others.
   */

  /** The part of the bound at which connections are closed, in percent. */
  private static final int FULL_PERCENT = 80;

  private final DoorCounters counters;
  private final int most;

  /** The connections without an authorized request so far, oldest first, with their closing. */
  private final Map<HttpConnection, Runnable> unknown = new LinkedHashMap<>();

  AdminConnections(DoorCounters counters) {
    this.counters = counters;
    most = Math.max(1, counters.maxConnections() * FULL_PERCENT / 100);
  }

  /**
   * Adds a connection, and closes another one if there are too many.
   *
   * @param close closes the connection, from any thread
   */
  void opened(HttpConnection connection, Runnable close) {
    Runnable oldest = null;
    synchronized (this) {
      if (counters.connections() >= most) {
        Iterator<Runnable> first = unknown.values().iterator();
        if (first.hasNext()) {
          oldest = first.next();
          first.remove();
        }
      }
      unknown.put(connection, close);
    }
    if (oldest != null) {
      counters.displaced();
      oldest.run();
    }
  }

  /** Records that a connection has sent an authorized request. */
  synchronized void authorized(HttpConnection connection) {
    unknown.remove(connection);
  }

  synchronized void closed(HttpConnection connection) {
    unknown.remove(connection);
  }
}
