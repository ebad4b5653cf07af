package dev.weir.server.internal.http;

import dev.weir.server.internal.guard.DoorCounters;
import dev.weir.server.internal.guard.PendingBytes;
import dev.weir.server.internal.guard.UnreadAnswers;
import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP connection: its share of the memory for unfinished requests, and its end if that is too
 * much. Confined to the connection's event loop, except for its account.
 */
final class HttpPeer {
  /** Approximate size of the objects of a short request. */
  static final long QUEUED_BYTES = 1 << 10;

  private static final AttributeKey<HttpPeer> KEY = AttributeKey.valueOf(HttpPeer.class, "peer");

  /** A request whose body has not fully arrived. */
  interface UnfinishedRequest {
    /** Answers the request with the problem; the rest of its body is dropped. */
    void refuse(HttpProblem problem);
  }

  private final HttpServerConnection connection;
  private final PendingBytes.Account account;
  private final PendingBytes pending;
  private final Runnable refuseHead;
  private final Set<UnfinishedRequest> unfinished = new LinkedHashSet<>(2);
  private @Nullable HttpProblem brokenBody;
  private int unanswered;
  private long queueTold;
  private BooleanSupplier ending = () -> false;

  /**
   * @param refuseHead refuses an unfinished head, if there is one
   */
  private HttpPeer(HttpServerConnection connection, DoorCounters counters, Runnable refuseHead) {
    this.connection = connection;
    this.refuseHead = refuseHead;
    pending = counters.pending();
    account = counters.account(this::evict);
  }

  /** Registers a connection for {@link #of}. */
  static HttpPeer open(HttpServerConnection connection, DoorCounters counters, Runnable refuse) {
    HttpPeer peer = new HttpPeer(connection, counters, refuse);
    connection.channelHandlerContext().channel().attr(KEY).set(peer);
    return peer;
  }

  static HttpPeer of(HttpConnection connection) {
    HttpServerConnection transport = (HttpServerConnection) connection;
    return transport.channelHandlerContext().channel().attr(KEY).get();
  }

  PendingBytes.Account account() {
    return account;
  }

  /** Returns the message for a client whose request is refused for lack of memory. */
  String refusal() {
    return pending.refusal();
  }

  void closed() {
    account.close();
  }

  /** Sets the source of {@link #isEnding}. */
  void endsIf(BooleanSupplier ending) {
    this.ending = ending;
  }

  /** Returns whether the answers in flight are the connection's last ones: the server stops. */
  boolean isEnding() {
    return ending.getAsBoolean();
  }

  /**
   * Counts requests that wait for earlier ones to be answered: each takes far more memory than its
   * bytes.
   */
  void queued(int requests) {
    unanswered += requests;
    updateQueue();
  }

  /** Returns whether no request waits for its answer. */
  boolean isIdle() {
    return unanswered == 0 && unfinished.isEmpty();
  }

  /** Records that a request was answered. */
  void answered() {
    unanswered = Math.max(0, unanswered - 1);
    updateQueue();
  }

  private void updateQueue() {
    long now = QUEUED_BYTES * Math.max(0, unanswered - 1);
    if (now != queueTold) {
      long change = now - queueTold;
      queueTold = now;
      boolean unused = account.add(change);
    }
  }

  /** Registers a request whose body begins to arrive. */
  void began(UnfinishedRequest request) {
    unfinished.add(request);
    if (brokenBody != null) {
      request.refuse(brokenBody);
    }
  }

  void ended(UnfinishedRequest request) {
    unfinished.remove(request);
  }

  /** Records that the current body is broken and nothing follows it. */
  void broken(HttpProblem problem) {
    brokenBody = problem;
    List.copyOf(unfinished).forEach(each -> each.refuse(problem));
  }

  /** Closes the connection, because its memory is needed. */
  private void evict() {
    var loop = connection.channelHandlerContext().channel().eventLoop();
    if (!loop.inEventLoop()) {
      loop.execute(this::evict);
      return;
    }
    List<UnfinishedRequest> refused = new ArrayList<>(unfinished);
    HttpProblem problem = new HttpProblem(503, "Too much at once", pending.refusal());
    refused.forEach(each -> each.refuse(problem));
    if (refused.isEmpty() || !UnreadAnswers.none(connection.channelHandlerContext().channel())) {
      refuseHead.run();
    }
  }
}
