package dev.weir.client;

import dev.weir.Ticker;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Virtual time in which everything happens on one thread, each event at its instant. */
public final class World {
  /** An event at an instant. */
  private static final class Event implements Comparable<Event>, Ticker.ScheduledTask {
    final long atNanos;
    final long number;
    @Nullable Runnable task;

    Event(long atNanos, long number, Runnable task) {
      this.atNanos = atNanos;
      this.number = number;
      this.task = task;
    }

    @Override
    public void cancel() {
      task = null;
    }

    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  final SplittableRandom random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nanos = 1_000_000_000_000L;
  private long numbers;

  World(SplittableRandom random) {
    this.random = random;
  }

  long nanos() {
    return nanos;
  }

  Ticker.ScheduledTask at(long atNanos, Runnable task) {
    Event event = new Event(Math.max(nanos, atNanos), numbers++, task);
    events.add(event);
    return event;
  }

  Ticker.ScheduledTask after(long byNanos, Runnable task) {
    return at(nanos + byNanos, task);
  }

  /** Runs all events of a span of time. */
  void run(long forNanos) {
    long end = nanos + forNanos;
    while (!events.isEmpty() && events.element().atNanos <= end) {
      Event event = events.remove();
      Runnable task = event.task;
      if (task != null) {
        nanos = Math.max(nanos, event.atNanos);
        task.run();
      }
    }
    nanos = end;
  }

  /** Returns true once in the given number of times on average. */
  boolean once(int in) {
    return random.nextInt(in) == 0;
  }

  /** Returns a number from {@code from} on and before {@code to}. */
  long between(long from, long to) {
    return random.nextLong(from, to);
  }
}
