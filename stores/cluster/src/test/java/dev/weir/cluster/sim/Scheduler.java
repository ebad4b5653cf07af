package dev.weir.cluster.sim;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Virtual time, and the tasks scheduled in it. Tasks of the same instant run in an order that
 * depends on the seed. Used by one thread.
 */
final class Scheduler {
  private record Event(long atNanos, int tie, long number, Runnable task)
      implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      int byTime = Long.compare(atNanos, other.atNanos);
      int byTie = byTime != 0 ? byTime : Integer.compare(tie, other.tie);
      return byTie != 0 ? byTie : Long.compare(number, other.number);
    }
  }

  final SplittableRandom random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowNanos = 1_000_000_000;
  private long numbers;
  private long digest;

  Scheduler(long seed) {
    random = new SplittableRandom(seed);
  }

  long nanos() {
    return nowNanos;
  }

  void after(long nanos, Runnable task) {
    events.add(new Event(nowNanos + Math.max(0, nanos), random.nextInt(), numbers++, task));
  }

  /** Schedules a task at an instant; random numbers do not depend on it. */
  void at(long atNanos, int tie, Runnable task) {
    events.add(new Event(atNanos, tie, numbers++, task));
  }

  /** Runs the tasks that are due until an instant. */
  void runUntil(long atNanos) {
    for (Event next = events.peek(); next != null && next.atNanos <= atNanos; ) {
      Event due = events.remove();
      nowNanos = due.atNanos;
      digest = 31 * digest + nowNanos + due.number;
      due.task.run();
      next = events.peek();
    }
    nowNanos = atNanos;
  }

  /** Returns a number that distinguishes this run from others. */
  long digest() {
    return digest;
  }

  /** Returns true with a probability of one in that many. */
  boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  /** Returns a random length of time between two; small ones are as likely as large ones. */
  long between(long leastNanos, long mostNanos) {
    double span = Math.log((double) mostNanos / leastNanos);
    return (long) (leastNanos * Math.exp(span * random.nextDouble()));
  }
}
