package dev.weir.server.internal.resp;

import dev.weir.Decision;
import dev.weir.Quota;
import dev.weir.Reason;
import dev.weir.engine.Answer;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.RequestBatch;
import dev.weir.engine.Status;
import dev.weir.protocol.http.BadRequest;
import dev.weir.rules.Request;
import dev.weir.server.internal.deciding.GuardedDecider;
import dev.weir.server.internal.deciding.RecentTexts;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Commands {@code WEIR.CHECK} that wait to be decided together, and their replies. Those that can
 * be decided at once and in this process are one batch. From the first one on that cannot, they are
 * decided separately, and the replies are written when the last of them is decided. Confined to one
 * event loop.
 */
final class CheckCalls {
  /**
   * The most commands in one part; more are decided in several, so that their data stays in the
   * cache.
   */
  private static final int MAX_CALLS = 128;

  private static final long MILLI = 1_000_000L;

  private final GuardedDecider decider;
  private final RespWriter out;
  private final RequestBatch batch;
  private final RecentTexts words = new RecentTexts();
  private String[] keysAndValues = new String[8];

  /** The requests behind those of the batch, which has been decided if there are any. */
  private List<Request> apart = new ArrayList<>();

  CheckCalls(GuardedDecider decider, RespWriter out) {
    this.decider = decider;
    this.out = out;
    batch = decider.engine().batch(MAX_CALLS);
  }

  boolean full() {
    return batch.isFull() || apart.size() == MAX_CALLS;
  }

  /**
   * Adds a command; there must be room.
   *
   * @param charge whether the permits are counted whatever is left
   * @throws BadRequest if a text is not UTF-8; the command is not added then
   */
  void add(RespArguments command, long permits, boolean charge, long nowNanos) throws BadRequest {
    int count = command.count() - 3;
    if (keysAndValues.length < count) {
      keysAndValues = Arrays.copyOf(keysAndValues, count);
    }
    for (int i = 0; i < count; i += 2) {
      keysAndValues[i] = word(command, i + 3, "entry key");
      keysAndValues[i + 1] = command.utf8(i + 4, "entry value");
    }
    String domain = word(command, 1, "domain");
    boolean plain = apart.isEmpty() && !charge;
    if (plain && decider.add(batch, domain, keysAndValues, count, permits, nowNanos)) {
      return;
    }
    runBatch();
    Request request = RequestBatch.request(domain, keysAndValues, count, permits);
    apart.add(charge ? request.charging() : request);
  }

  /** Returns a text, most often one that was read lately. */
  private String word(RespArguments command, int i, String name) throws BadRequest {
    byte[] bytes = command.bytes();
    int from = command.start(i);
    int to = command.end(i);
    String known = words.find(bytes, from, to);
    if (known != null) {
      return known;
    }
    String text = command.utf8(i, name);
    words.keep(bytes, from, to, text);
    return text;
  }

  /**
   * Decides the waiting commands, and writes the replies in their order.
   *
   * @param later receives the task that writes the replies to the separate ones, to be run on the
   *     event loop; perhaps before this method returns
   * @return whether all replies are written; if not, {@code later} receives the rest
   */
  boolean run(Consumer<Runnable> later) {
    runBatch();
    if (apart.isEmpty()) {
      return true;
    }
    List<Request> requests = apart;
    apart = new ArrayList<>(); // The store may answer at once.
    try {
      // The bytes still count on the connection.
      decider.decideAll(
          requests,
          () -> 0,
          answers -> later.accept(() -> answers.forEach(answer -> reply(answer, out))));
    } catch (IllegalArgumentException e) { // This is not an error of the command that is read now.
      throw new IllegalStateException(e);
    }
    return false;
  }

  private void runBatch() {
    if (batch.size() == 0) {
      return;
    }
    try {
      decider.decide(batch);
      for (int i = 0; i < batch.size(); i++) {
        reply(i);
      }
    } finally {
      batch.clear(); // The next connection must not get the replies of one that has failed.
    }
  }

  /** Drops the commands of a client that no longer waits. */
  void forget() {
    batch.clear();
    apart = new ArrayList<>();
  }

  private void reply(int i) {
    String error = batch.error(i);
    if (error != null) {
      out.error("ERR " + error);
      return;
    }
    reply(
        0,
        batch.allowed(i),
        batch.limit(i),
        batch.remaining(i),
        batch.retryAfterNanos(i),
        batch.resetAfterNanos(i),
        batch.reason(i),
        out);
  }

  /** Writes the reply to a command. */
  static void reply(Answer answer, RespWriter out) {
    if (answer.error() == null) {
      reply(answer, 0, out);
    } else {
      out.error("ERR " + answer.error());
    }
  }

  /**
   * Writes an answer without an error.
   *
   * @param more elements follow in the same array
   */
  static void reply(Answer answer, int more, RespWriter out) {
    Status status = answer.statuses().get(0);
    Decision decision = status.decision();
    reply(
        more,
        answer.allowed(),
        status.currentLimit(),
        status.limitRemaining() - status.debt(),
        decision == null ? 0 : decision.retryAfterNanos(),
        decision == null ? 0 : decision.resetAfterNanos(),
        status.reason(),
        out);
  }

  private static void reply(
      int more,
      boolean allowed,
      @Nullable CurrentLimit limit,
      long remaining,
      long retryNanos,
      long resetNanos,
      Reason reason,
      RespWriter out) {
    out.array(7 + more).integer(allowed ? 1 : 0);
    if (limit == null) {
      long wait = millis(Math.min(retryNanos, Quota.MAX_WINDOW_NANOS));
      out.integer(-1).integer(-1).integer(wait).integer(0).bulk("").bulk(reason.name());
      return;
    }
    out.integer(limit.requestsPerUnit())
        .integer(remaining)
        .integer(retryNanos == Decision.NEVER ? -1 : millis(retryNanos))
        .integer(millis(resetNanos))
        .bulk(limit.policy().name())
        .bulk(reason.name());
  }

  private static long millis(long nanos) {
    return nanos / MILLI + (nanos % MILLI > 0 ? 1 : 0);
  }
}
