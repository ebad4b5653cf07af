package dev.weir.client.internal.lease;

import dev.weir.Reason;
import dev.weir.client.internal.wire.Callbacks;
import dev.weir.client.internal.wire.Endings;
import dev.weir.client.internal.wire.Messages;
import dev.weir.client.internal.wire.Service;
import dev.weir.client.internal.wire.ServiceCall;
import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import dev.weir.protocol.v1.WeirProto.Check;
import dev.weir.protocol.v1.WeirProto.Grant;
import dev.weir.rules.Request;
import dev.weir.shared.Clocks;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests for one key that the service must decide: one lease request is in flight at a time,
 * while the others wait. Safe for use by many threads.
 */
public final class Flight {
  /*
   * How is Flight designed, and why? While a lease request is in flight, further requests for the
   * same key wait: its answer, a lease or a denial, decides most of them. Those that it does not
   * decide share the next lease request. The service grants that one as a whole or not at all, so
   * its permits do not exceed those that remained by the service's last answer. If it is refused
   * nevertheless, the requests are sent again in smaller groups, and at last one alone. The refusal
   * of that one states from when on there is one permit.
   */

  /** The parts of a client that all its flights share. */
  public interface Desk {
    Clocks clocks();

    Counters counters();

    Endings endings();

    /** Returns the service to call now, or null. */
    @Nullable Service service();

    /** Returns the longest that a request waits for its answer. */
    long deadlineNanos();

    /** Returns whether a refund may follow a request that is sent now. */
    boolean refunds();

    /** Records a grant, and returns the answer to the requests that it decides. */
    Answer learn(
        Request request,
        @Nullable Key[] keys,
        Grant grant,
        Service by,
        long revision,
        Clocks.Instant sentAt);

    /** Answers a request while the service cannot be reached. */
    Answer answerUnavailable(Request request, Reason reason);
  }

  /** A request that waits. */
  record Waiter(Request request, long permits, long sinceNanos, Consumer<? super Answer> done) {}

  /** The most permits that a message can carry. */
  public static final long MOST_PERMITS = (1L << 32) - 1;

  /**
   * The most requests for a key that wait; further ones are answered as if there were no time for a
   * call.
   */
  private static final int MOST_WAITING = 65_536;

  private final Key key;
  private final Desk desk;
  private final Deque<Waiter> waiting = new ArrayDeque<>(1);
  private boolean asking;

  /** The most permits of a lease request that stands for several requests. */
  private long most = MOST_PERMITS;

  Flight(Key key, Desk desk) {
    this.key = key;
    this.desk = desk;
  }

  synchronized boolean idle() {
    return !asking && waiting.isEmpty();
  }

  /** Decides a request, or adds it to those that wait. */
  void join(Waiter waiter) {
    Answer known = null;
    Ride ride = null;
    boolean full;
    synchronized (this) {
      if (!asking) {
        known = key.local(waiter.permits, desk.clocks(), desk.counters()); // One may have arrived.
      }
      full = known == null && waiting.size() >= MOST_WAITING;
      if (known == null && !full) {
        waiting.add(waiter);
        ride = asking ? null : plan();
      }
    }
    if (full) {
      waiter.done.accept(desk.answerUnavailable(waiter.request, Reason.OVERLOADED));
    } else if (known != null) {
      waiter.done.accept(known);
    } else if (ride != null) {
      ride.go();
    }
  }

  private @Nullable Ride plan() {
    if (waiting.isEmpty()) {
      return null;
    }
    asking = true;
    boolean refundable = desk.refunds();
    Waiter first = waiting.remove();
    List<Waiter> riding = new ArrayList<>();
    riding.add(first);
    long permits = first.permits;
    while (!refundable
        && !waiting.isEmpty()
        && permits + waiting.element().permits <= Math.min(most, MOST_PERMITS)) {
      Waiter next = waiting.remove();
      riding.add(next);
      permits += next.permits;
    }
    return new Ride(riding, permits, refundable);
  }

  /** One lease request, and the requests that it stands for. */
  private final class Ride implements ServiceCall.Reply {
    private final List<Waiter> riding;
    private final long permits;
    private final boolean refundable;
    private boolean planned;

    Ride(List<Waiter> riding, long permits, boolean refundable) {
      this.riding = riding;
      this.permits = permits;
      this.refundable = refundable;
    }

    void go() {
      Service service = desk.service();
      if (service == null) {
        failed(Reason.UNCERTAIN);
        return;
      }
      Waiter first = riding.get(0);
      Check check = Messages.check(first.request, permits);
      long waited = desk.clocks().nanos() - first.sinceNanos;
      long[] ahead = {key.plan(desk.clocks())};
      planned = ahead[0] > 0;
      service.send(new ServiceCall(check, ahead, refundable, desk.deadlineNanos() - waited, this));
    }

    @Override
    public void granted(Grant grant, Service by, long revision, Clocks.Instant sentAt) {
      List<Runnable> answers = new ArrayList<>();
      Ride next;
      synchronized (Flight.this) {
        planned();
        @Nullable Key[] keys = {key};
        Answer answer = desk.learn(riding.get(0).request, keys, grant, by, revision, sentAt);
        boolean again = !answer.allowed() && answer.error() == null && riding.size() > 1;
        if (again) {
          for (int i = riding.size() - 1; i >= 0; i--) {
            waiting.addFirst(riding.get(i));
          }
        } else {
          desk.counters().asked.add(riding.size());
          riding.forEach(each -> answers.add(() -> each.done.accept(answer)));
        }
        most = most(answer, again);
        serve(answers);
        asking = false;
        next = plan();
      }
      Callbacks.run(answers);
      if (next != null) {
        next.go();
      }
    }

    private void planned() {
      if (planned) {
        key.answered();
      }
    }

    /** Returns the most permits of the next lease request. */
    private long most(Answer answer, boolean again) {
      if (answer.statuses().isEmpty()) {
        return MOST_PERMITS;
      }
      Status status = answer.statuses().get(0);
      boolean counts =
          status.reason() == Reason.WITHIN_LIMIT || status.reason() == Reason.OVER_LIMIT;
      long left = counts ? Math.max(1, status.limitRemaining()) : MOST_PERMITS;
      return again ? Math.max(1, Math.min(left, permits / 2)) : left;
    }

    /** Decides the waiting requests that the key can decide now. */
    private void serve(List<Runnable> answers) {
      for (int left = waiting.size(); left > 0; left--) {
        Waiter each = waiting.remove();
        Answer known = key.local(each.permits, desk.clocks(), desk.counters());
        if (known == null) {
          waiting.add(each);
        } else {
          answers.add(() -> each.done.accept(known));
        }
      }
    }

    @Override
    public void failed(Reason reason) {
      List<Waiter> over = new ArrayList<>(riding);
      Ride next = null;
      synchronized (Flight.this) {
        planned();
        long now = desk.clocks().nanos();
        boolean away = desk.service() == null;
        while (!waiting.isEmpty()
            && (away || now - waiting.element().sinceNanos >= desk.deadlineNanos())) {
          over.add(waiting.remove());
        }
        asking = false;
        next = plan();
      }
      Callbacks.run(
          over.stream()
              .<Runnable>map(
                  each -> () -> each.done.accept(desk.answerUnavailable(each.request, reason)))
              .toList());
      if (next != null) {
        next.go();
      }
    }
  }
}
