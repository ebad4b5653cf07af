package dev.weir.client.internal.lease;

import dev.weir.Reason;
import dev.weir.client.internal.wire.Ask;
import dev.weir.client.internal.wire.Callbacks;
import dev.weir.client.internal.wire.Endings;
import dev.weir.client.internal.wire.Messages;
import dev.weir.client.internal.wire.Service;
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
 * The requests for one key that the service must decide: one ask at a time, while the others wait.
 * Safe for use by many threads.
 */
public final class Flight {
  /*
   * How is Flight designed, and why? While an ask is out, requests for the same key wait: what it
   * brings back, a lease or a denial, decides most of them. Those that it does not decide share the
   * next ask. The service grants that whole or not at all, so its permits are not more than the
   * service last said remained; if it is refused nevertheless, the requests are asked for anew in
   * smaller groups, and at last one alone, whose refusal says from when on there is one permit.
   */

  /** What all flights of a client share. */
  public interface Desk {
    Clocks clocks();

    Counters counters();

    Endings endings();

    /** Returns the service to ask now, or null. */
    @Nullable Service service();

    /** Returns the most that a request waits for its answer. */
    long deadlineNanos();

    /** Returns whether somebody may want a refund of what is asked for now. */
    boolean refunds();

    /** Takes note of what a grant says, and returns the answer to those who asked. */
    Answer learn(
        Request request,
        @Nullable Key[] keys,
        Grant grant,
        Service by,
        long revision,
        Clocks.Instant sentAt);

    /** Answers a request that the service cannot be asked for. */
    Answer away(Request request, Reason reason);
  }

  /** A request that waits. */
  record Waiter(Request request, long permits, long sinceNanos, Consumer<? super Answer> done) {}

  /** The most that a message can ask for. */
  public static final long MOST_PERMITS = (1L << 32) - 1;

  /** One more request for a key is answered as if there were no time to ask. */
  private static final int MOST_WAITING = 65_536;

  private final Key key;
  private final Desk desk;
  private final Deque<Waiter> waiting = new ArrayDeque<>(1);
  private boolean asking;

  /** Permits that one ask may stand for, if it stands for several requests. */
  private long most = MOST_PERMITS;

  Flight(Key key, Desk desk) {
    this.key = key;
    this.desk = desk;
  }

  synchronized boolean idle() {
    return !asking && waiting.isEmpty();
  }

  /** Has a request decided. */
  void join(Waiter waiter) {
    Answer known = null;
    Ride ride = null;
    boolean full;
    synchronized (this) {
      if (!asking) {
        known = key.local(waiter.permits, desk.clocks(), desk.counters()); // It may have come.
      }
      full = known == null && waiting.size() >= MOST_WAITING;
      if (known == null && !full) {
        waiting.add(waiter);
        ride = asking ? null : plan();
      }
    }
    if (full) {
      waiter.done.accept(desk.away(waiter.request, Reason.OVERLOADED));
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

  /** One ask, and the requests that it stands for. */
  private final class Ride implements Ask.Reply {
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
      service.ask(new Ask(check, ahead, refundable, desk.deadlineNanos() - waited, this));
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
        key.asked();
      }
    }

    /** Returns what the next ask may stand for. */
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

    /** Decides those that wait by what is known now. */
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
              .<Runnable>map(each -> () -> each.done.accept(desk.away(each.request, reason)))
              .toList());
      if (next != null) {
        next.go();
      }
    }
  }
}
