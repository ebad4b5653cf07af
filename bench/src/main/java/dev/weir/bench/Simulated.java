package dev.weir.bench;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;

/** Time that passes by events, machines with processors, and threads that need them. */
final class Simulated {
  private record Event(double nanos, long number, Runnable what) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          Comparator.comparingDouble(Event::nanos).thenComparingLong(Event::number));
  private final double wakeNanos;
  private double now;
  private long numbers;

  /**
   * @param wakeNanos from when an idle thread is handed work until it asks for a processor
   */
  Simulated(double wakeNanos) {
    this.wakeNanos = wakeNanos;
  }

  double now() {
    return now;
  }

  void after(double nanos, Runnable what) {
    events.add(new Event(now + nanos, numbers++, what));
  }

  /** Has all happen that is to happen until then. */
  void runUntil(double nanos) {
    while (!events.isEmpty() && events.peek().nanos <= nanos) {
      Event next = events.remove();
      now = next.nanos;
      next.what.run();
    }
    now = nanos;
  }

  /** Processors that threads share in turn. */
  final class Machine {
    private final Queue<Worker> ready = new ArrayDeque<>();
    private int free;
    private double usedNanos;

    Machine(int processors) {
      free = processors;
    }

    double usedNanos() {
      return usedNanos;
    }

    private void wants(Worker worker) {
      ready.add(worker);
      dispatch();
    }

    private void dispatch() {
      while (free > 0 && !ready.isEmpty()) {
        Worker next = ready.remove();
        Work work = next.waiting.remove();
        free--;
        usedNanos += work.nanos;
        after(
            work.nanos,
            () -> {
              free++;
              work.then.run();
              if (work.blockedNanos > 0) {
                after(work.blockedNanos, () -> next.over(work));
              } else {
                next.over(work);
              }
              dispatch();
            });
      }
    }
  }

  private record Work(double nanos, double blockedNanos, Runnable then, Runnable afterBlocked) {}

  /** A thread: does one thing after the other, and takes its turn for a processor each time. */
  final class Worker {
    private final Machine machine;
    private final Queue<Work> waiting = new ArrayDeque<>();
    private boolean busy;

    Worker(Machine machine) {
      this.machine = machine;
    }

    void does(double nanos, Runnable then) {
      hand(new Work(nanos, 0, then, () -> {}));
    }

    /** Does something, and then waits for a device without a processor. */
    void doesAndWaits(double nanos, double blockedNanos, Runnable then) {
      hand(new Work(nanos, blockedNanos, () -> {}, then));
    }

    private void hand(Work work) {
      waiting.add(work);
      if (!busy) {
        busy = true;
        after(wakeNanos, () -> machine.wants(this));
      }
    }

    private void over(Work work) {
      work.afterBlocked.run();
      if (waiting.isEmpty()) {
        busy = false;
      } else {
        machine.wants(this);
      }
    }
  }
}
