package dev.weir.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Closes connections that keep the server waiting. Confined to one event loop.
 *
 * <p>Deadlines are looked at now and then: a connection must send its first request within the
 * request timeout, complete every request and take its answer within the same, and send the next
 * one within the idle timeout. How many bytes trickle in meanwhile makes no difference, nor do
 * other requests on the same connection.
 *
 * @param <C> a connection
 */
final class ConnectionGuard<C> {
  /** What is known of a connection. */
  private static final class Watched {
    /** The deadlines of requests that are on their way, oldest first. */
    private final Map<Object, Long> requests = new LinkedHashMap<>(4);

    private long deadline;
    private boolean answerUnread;

    Watched(long deadline) {
      this.deadline = deadline;
    }

    long deadline() {
      return requests.isEmpty() ? deadline : requests.values().iterator().next();
    }
  }

  private final long requestNanos;
  private final long idleNanos;
  private final DoorCounters counters;
  private final Predicate<C> writable;
  private final Consumer<C> cut;
  private final Map<C, Watched> open = new HashMap<>();

  /**
   * @param writable whether a client reads what it is sent
   * @param cut closes without waiting for the client to read, as it may never do
   */
  ConnectionGuard(
      ServerSettings settings, DoorCounters counters, Predicate<C> writable, Consumer<C> cut) {
    this.requestNanos = settings.value(Setting.REQUEST_TIMEOUT).toNanos();
    this.idleNanos = settings.value(Setting.IDLE_TIMEOUT).toNanos();
    this.counters = counters;
    this.writable = writable;
    this.cut = cut;
  }

  /** Returns how often to sweep. */
  static long sweepMillis(ServerSettings settings) {
    return Math.max(20, Math.min(1_000, settings.value(Setting.REQUEST_TIMEOUT).toMillis() / 4));
  }

  /** Takes a new connection in; returns whether there is room for it. It is to be closed anyway. */
  boolean opened(C connection, long now) {
    boolean room = counters.opened();
    if (room) {
      open.put(connection, new Watched(now + requestNanos));
    }
    return room;
  }

  void closed(C connection) {
    counters.closed();
    open.remove(connection);
  }

  /** A request's head is here; the rest must follow, whatever else comes meanwhile. */
  void requestBegan(C connection, Object request, long now) {
    Watched watched = open.get(connection);
    if (watched != null) {
      watched.requests.put(request, now + requestNanos);
      watched.answerUnread = false;
    }
  }

  /** The answer is written, as far as the client reads. */
  void requestEnded(C connection, Object request, long now) {
    Watched watched = open.get(connection);
    if (watched != null) {
      watched.requests.remove(request);
      watched.answerUnread = !writable.test(connection);
      watched.deadline = now + (watched.answerUnread ? requestNanos : idleNanos);
    }
  }

  /** Closes what is too late. */
  void sweep(long now) {
    List<C> late = new ArrayList<>();
    open.forEach(
        (connection, watched) -> {
          if (now - watched.deadline() <= 0) {
            return;
          }
          if (watched.requests.isEmpty() && watched.answerUnread && writable.test(connection)) {
            watched.answerUnread = false;
            watched.deadline = now + idleNanos;
          } else {
            late.add(connection);
          }
        });
    for (C connection : late) {
      open.remove(connection);
      counters.timedOut();
      cut.accept(connection);
    }
  }
}
