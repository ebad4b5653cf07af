package dev.weir.server.internal.guard;

import dev.weir.server.internal.settings.ServerSettings;
import dev.weir.server.internal.settings.Settings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The guard against connections that keep the server waiting: it closes them. Confined to one event
 * loop.
 *
 * <p>Deadlines are checked by a periodic sweep: a connection must send its first request within the
 * request timeout, complete every request and read its answer within the same time, and send the
 * next request within the idle timeout. Bytes that trickle in do not extend a deadline, nor do
 * other requests on the same connection. If an answer takes longer, the port states which side it
 * waits for: there is no deadline while it waits for the server.
 *
 * @param <C> the type of a connection
 */
public final class ConnectionGuard<C> {
  /** The deadlines of a connection. */
  private static final class WatchedDeadlines {
    /** The deadlines of unfinished requests. */
    private final Map<Object, Long> requests = new LinkedHashMap<>(4);

    private long deadline;
    private boolean answerUnread;

    WatchedDeadlines(long deadline) {
      this.deadline = deadline;
    }

    /** Returns the earliest deadline; the deadlines of all requests are close together. */
    long deadline() {
      if (requests.isEmpty()) {
        return deadline;
      }
      long earliest = requests.values().iterator().next();
      for (long each : requests.values()) {
        earliest = each - earliest < 0 ? each : earliest;
      }
      return earliest;
    }
  }

  /** The deadline while a request waits for the server, which bounds its own work. */
  private static final long NO_DEADLINE_NANOS = Long.MAX_VALUE / 4;

  private final long requestNanos;
  private final long idleNanos;
  private final DoorCounters counters;
  private final Predicate<C> writable;
  private final Consumer<C> cut;
  private final Map<C, WatchedDeadlines> open = new HashMap<>();

  /**
   * Guards the connections of one port.
   *
   * @param writable returns whether the client reads its answers
   * @param cut closes a connection without waiting for the client to read
   */
  public ConnectionGuard(
      ServerSettings settings, DoorCounters counters, Predicate<C> writable, Consumer<C> cut) {
    this.requestNanos = settings.value(Settings.REQUEST_TIMEOUT).toNanos();
    this.idleNanos = settings.value(Settings.IDLE_TIMEOUT).toNanos();
    this.counters = counters;
    this.writable = writable;
    this.cut = cut;
  }

  /** Returns the milliseconds between two sweeps. */
  public static long sweepMillis(ServerSettings settings) {
    return Math.max(20, Math.min(1_000, settings.value(Settings.REQUEST_TIMEOUT).toMillis() / 4));
  }

  /**
   * Adds a new connection; returns whether there is room for it. {@link #closed} must follow in
   * both cases.
   */
  public boolean opened(C connection, long now) {
    boolean room = counters.opened();
    if (room) {
      open.put(connection, new WatchedDeadlines(now + requestNanos));
    }
    return room;
  }

  public void closed(C connection) {
    counters.closed();
    open.remove(connection);
  }

  /** Starts the deadline of a request whose head has arrived: the rest must arrive in time. */
  public void requestBegan(C connection, Object request, long now) {
    WatchedDeadlines watched = open.get(connection);
    if (watched != null) {
      watched.requests.put(request, now + requestNanos);
      watched.answerUnread = false;
    }
  }

  /** Starts a new deadline of an unfinished request: its client must act in time. */
  public void waitsForClient(C connection, Object request, long now) {
    postpone(connection, request, now + requestNanos);
  }

  /** Removes the deadline of an unfinished request while the server works on it. */
  public void waitsForServer(C connection, Object request, long now) {
    postpone(connection, request, now + NO_DEADLINE_NANOS);
  }

  private void postpone(C connection, Object request, long deadline) {
    WatchedDeadlines watched = open.get(connection);
    if (watched != null) {
      watched.requests.replace(request, deadline);
    }
  }

  /** Ends a request: the answer is written, as far as the client reads it. */
  public void requestEnded(C connection, Object request, long now) {
    WatchedDeadlines watched = open.get(connection);
    if (watched != null) {
      watched.requests.remove(request);
      watched.answerUnread = !writable.test(connection);
      watched.deadline = now + (watched.answerUnread ? requestNanos : idleNanos);
    }
  }

  /** Closes the connections that are past their deadline. */
  public void sweep(long now) {
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
