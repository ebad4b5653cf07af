package dev.weir.testkit;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A ticker whose time stands still until a test moves it. Safe for use by many threads.
 *
 * <p>It may be set back, unlike a real ticker: tests use this to check a limiter under a bad clock.
 */
public final class FakeTicker implements Ticker {
  private record Task(long dueNanos, long number, Runnable task) implements Comparable<Task> {
    @Override
    public int compareTo(Task other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  private final AtomicLong nanos;
  private final PriorityQueue<Task> tasks = new PriorityQueue<>();
  private volatile long nextDueNanos = Long.MAX_VALUE;
  private long numbers;

  /** Creates a ticker at the epoch. */
  public FakeTicker() {
    this(0);
  }

  /** Creates a ticker at {@code nanos} since the epoch. */
  public FakeTicker(long nanos) {
    this.nanos = new AtomicLong(nanos);
  }

  @Override
  public long nanos() {
    return nanos.get();
  }

  /** Sets the time, forwards or back. Returns this ticker. */
  public FakeTicker set(long toNanos) {
    nanos.set(toNanos);
    return runDue();
  }

  /** Moves the time by {@code byNanos}, back if negative. Returns this ticker. */
  public FakeTicker advance(long byNanos) {
    nanos.addAndGet(byNanos);
    return runDue();
  }

  /** Moves the time, back if negative. Returns this ticker. */
  public FakeTicker advance(Duration by) {
    return advance(by.toNanos());
  }

  /**
   * Advances the time, unless another thread has already advanced it that far, and returns at once.
   *
   * @throws InterruptedException if the thread is interrupted; the time then stays
   */
  @Override
  public void sleep(long byNanos) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("interrupted while asleep");
    }
    long until = nanos.get() + byNanos;
    nanos.accumulateAndGet(until, Math::max);
    runDue();
  }

  /**
   * Schedules a task, which is run by the thread that moves the time that far. Time that jumps over
   * several tasks runs them in their order, all at the time after the jump.
   */
  @Override
  public ScheduledTask schedule(long byNanos, Runnable task) {
    synchronized (tasks) {
      long number = numbers++;
      tasks.add(new Task(nanos.get() + byNanos, number, task));
      nextDueNanos = nextDue();
      return () -> cancel(number);
    }
  }

  /** Returns how many tasks are scheduled: neither due yet, nor cancelled. */
  public int scheduled() {
    synchronized (tasks) {
      return tasks.size();
    }
  }

  private void cancel(long number) {
    synchronized (tasks) {
      tasks.removeIf(task -> task.number() == number);
      nextDueNanos = nextDue();
    }
  }

  private FakeTicker runDue() {
    while (nextDueNanos <= nanos.get()) {
      Task due = pollDue();
      if (due != null) {
        due.task().run();
      }
    }
    return this;
  }

  private @Nullable Task pollDue() {
    synchronized (tasks) {
      Task next = tasks.peek();
      boolean due = next != null && next.dueNanos() <= nanos.get();
      Task polled = due ? tasks.poll() : null;
      nextDueNanos = nextDue();
      return polled;
    }
  }

  private long nextDue() {
    Task next = tasks.peek();
    return next == null ? Long.MAX_VALUE : next.dueNanos();
  }
}
