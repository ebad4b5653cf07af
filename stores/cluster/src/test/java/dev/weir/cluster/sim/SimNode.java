package dev.weir.cluster.sim;

import dev.weir.Ticker;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A machine: clocks of its own, and the processes on it. It can crash, pause, and be suspended. */
final class SimNode {
  private static final long MILLION = 1_000_000;

  /** The time of a right wall clock at the beginning: later than any monotonic one. */
  private static final long WALL_NANOS = 1L << 51;

  final String name;
  final Scheduler scheduler;
  private final Deque<Runnable> waiting = new ArrayDeque<>();
  private boolean up = true;
  private boolean paused;
  private long life;

  /** The rate by which its monotonic clock is fast, in parts per million. */
  private long ppm;

  private long clockNanos;
  private long clockSetAtNanos;
  private boolean clockStopped;
  private long wallAheadNanos;

  /** The times in which its monotonic clock stood still: from, until, from, until ... */
  private final List<Long> suspensions = new ArrayList<>();

  /** The steps of its wall clock, by their instants. */
  private final NavigableMap<Long, Long> steps = new TreeMap<>();

  SimNode(String name, Scheduler scheduler, int mostPpm) {
    this.name = name;
    this.scheduler = scheduler;
    ppm = scheduler.random.nextInt(-mostPpm, mostPpm + 1);
    wallAheadNanos = scheduler.random.nextLong(100 * MILLION);
    reboot();
  }

  private void reboot() {
    clockNanos = scheduler.random.nextLong(1L << 50);
    clockSetAtNanos = scheduler.nanos();
  }

  private long monotonicNanos() {
    long passed = clockStopped ? 0 : scheduler.nanos() - clockSetAtNanos;
    return clockNanos + passed + passed * ppm / MILLION;
  }

  Ticker monotonic() {
    return this::monotonicNanos;
  }

  Ticker wall() {
    return () -> rightWallNanos() + wallAheadNanos;
  }

  /** Returns the time of a right wall clock. */
  long rightWallNanos() {
    return WALL_NANOS + scheduler.nanos();
  }

  /** Sets the wall clock ahead, or back. */
  void stepWall(long byNanos) {
    wallAheadNanos += byNanos;
    steps.merge(scheduler.nanos(), byNanos, Long::sum);
  }

  /**
   * Returns whether no clock here could show how much time has passed: the machine was suspended,
   * and its wall clock set back by no more than that, within a tolerance.
   *
   * @param fromNanos real time
   * @param untilNanos real time
   */
  boolean hid(long fromNanos, long untilNanos, long toleranceNanos) {
    long suspended = 0;
    for (int i = 0; i < suspensions.size(); i += 2) {
      long end = i + 1 < suspensions.size() ? suspensions.get(i + 1) : untilNanos;
      suspended += Math.max(0, Math.min(end, untilNanos) - Math.max(suspensions.get(i), fromNanos));
    }
    long back = 0;
    for (long by : steps.subMap(fromNanos, true, untilNanos, true).values()) {
      back -= by;
    }
    return suspended > 0 && back > 0 && back <= suspended + toleranceNanos;
  }

  boolean up() {
    return up;
  }

  boolean runs() {
    return up && !paused;
  }

  /** Runs a task later, unless this machine crashes before. */
  void run(long afterNanos, Runnable task) {
    long when = life;
    scheduler.after(
        afterNanos,
        () -> {
          if (up && life == when) {
            runNow(task);
          }
        });
  }

  private void runNow(Runnable task) {
    if (paused) {
      waiting.add(task);
    } else {
      task.run();
    }
  }

  /**
   * Stops the processes here, until {@link #resume}.
   *
   * @param clockToo true to stop the monotonic clock too
   */
  void pause(boolean clockToo) {
    paused = true;
    if (clockToo && !clockStopped) {
      clockNanos = monotonicNanos();
      clockStopped = true;
      suspensions.add(scheduler.nanos());
    }
  }

  void resume() {
    paused = false;
    if (clockStopped) {
      clockStopped = false;
      clockSetAtNanos = scheduler.nanos();
      suspensions.add(clockSetAtNanos);
    }
    for (int i = waiting.size(); i > 0 && !paused; i--) {
      waiting.remove().run();
    }
  }

  /** Ends the processes here. */
  void crash() {
    resume0();
    up = false;
    life++;
    waiting.clear();
  }

  private void resume0() {
    waiting.clear();
    resume();
  }

  /** Starts again, with another reading of the monotonic clock. */
  void start() {
    up = true;
    reboot();
  }

  @Override
  public String toString() {
    return name;
  }
}
