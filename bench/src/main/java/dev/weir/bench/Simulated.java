package dev.weir.bench;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** Time that passes by events, machines with processors, and threads that need them. */
final class Simulated {
  /** For so long a thread keeps its processor while others wait for one. */
  private static final double TURN_NANOS = 1_500_000;

  private record Event(double nanos, long number, Runnable what) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(
          Comparator.comparingDouble(Event::nanos).thenComparingLong(Event::number));
  private final double wakeNanos;
  private double now;
  private long numbers;

  /**
   * @param wakeNanos from when a thread is handed work until an idle processor runs it; a processor
   *     that is busy goes on with the next thread at once
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
    private int idle;
    private double usedNanos;

    Machine(int processors) {
      idle = processors;
    }

    double usedNanos() {
      return usedNanos;
    }

    private void wants(Worker worker) {
      if (worker.program.held(worker)) {
        return;
      }
      if (idle > 0) {
        idle--;
        after(wakeNanos, () -> runs(worker, TURN_NANOS));
      } else {
        ready.add(worker);
      }
    }

    private void runs(Worker worker, double turnNanos) {
      double nanos = Math.min(turnNanos, worker.left());
      usedNanos += nanos;
      after(nanos, () -> ran(worker, nanos, turnNanos - nanos));
    }

    private void ran(Worker worker, double nanos, double turnNanos) {
      if (worker.did(nanos) || worker.program.held(worker)) {
        next();
      } else if (ready.isEmpty()) {
        runs(worker, TURN_NANOS);
      } else if (turnNanos > 0) {
        runs(worker, turnNanos);
      } else {
        ready.add(worker);
        next();
      }
    }

    private void next() {
      Worker next = ready.poll();
      while (next != null && next.program.held(next)) {
        next = ready.poll();
      }
      if (next == null) {
        idle++;
      } else {
        runs(next, TURN_NANOS);
      }
    }
  }

  /** Threads that are all stopped at times. */
  static final class Program {
    private final List<Worker> held = new ArrayList<>();
    private boolean stopped;

    /** Has no thread of it get a processor while another one does something. */
    void stopsFor(Worker other, double nanos) {
      stopped = true;
      other.does(
          nanos,
          () -> {
            stopped = false;
            List<Worker> all = List.copyOf(held);
            held.clear();
            all.forEach(each -> each.machine.wants(each));
          });
    }

    boolean stopped() {
      return stopped;
    }

    private boolean held(Worker worker) {
      return stopped && held.add(worker);
    }
  }

  /**
   * What a thread does.
   *
   * @param waits for how long it waits for a device afterwards; null if it does not
   */
  private record Work(DoubleSupplier nanos, @Nullable DoubleSupplier waits, Runnable then) {}

  /** A thread: does one thing after the other, when it has a processor. */
  final class Worker {
    private final Machine machine;
    private final Program program;
    private final Queue<Work> waiting = new ArrayDeque<>();
    private boolean busy;
    private double left = -1;

    Worker(Machine machine) {
      this(machine, new Program());
    }

    Worker(Machine machine, Program program) {
      this.machine = machine;
      this.program = program;
    }

    void does(double nanos, Runnable then) {
      does(() -> nanos, then);
    }

    /**
     * @param begins is called when the thread gets a processor for it, with what has come by then;
     *     returns for how long it needs the processor
     */
    void does(DoubleSupplier begins, Runnable then) {
      hand(new Work(begins, null, then));
    }

    /**
     * Does something, and then waits for a device without a processor.
     *
     * @param waits is called when it begins to wait; returns for how long
     */
    void doesAndWaits(double nanos, DoubleSupplier waits, Runnable then) {
      hand(new Work(() -> nanos, waits, then));
    }

    /** Returns how many things it has to do. */
    int waiting() {
      return waiting.size();
    }

    private void hand(Work work) {
      waiting.add(work);
      if (!busy) {
        busy = true;
        machine.wants(this);
      }
    }

    /** Returns for how long it needs a processor for what it does now. */
    private double left() {
      if (left < 0) {
        left = waiting.element().nanos.getAsDouble();
      }
      return left;
    }

    /** Takes note that it had a processor; returns whether it needs none now. */
    private boolean did(double nanos) {
      left -= nanos;
      if (left > 0) {
        return false;
      }
      left = -1;
      Work done = waiting.remove();
      if (done.waits == null) {
        done.then.run();
        busy = !waiting.isEmpty();
        return !busy;
      }
      after(
          done.waits.getAsDouble(),
          () -> {
            done.then.run();
            busy = !waiting.isEmpty();
            if (busy) {
              machine.wants(this);
            }
          });
      return true;
    }
  }
}
