package dev.weir.client;

import dev.weir.Ticker;
import dev.weir.shared.Clocks;

/**
 * The machine of a client: its clocks go at their own rates, jump and stand still; it may pause.
 */
public final class Machine {
  private static final long DAY_NANOS = 86_400_000_000_000L;
  private static final double WORST_RATE = 0.005;

  /**
   * The least time between a suspension and a step back of the wall clock, longer than any lease:
   * within a lease only one of the two clocks is wrong. That is documented.
   */
  private static final long APART_NANOS = 250_000_000L;

  private final World world;
  private final double rate;
  private final double wallRate;
  private final long offsetNanos;
  private final long beganNanos;
  private long wallOffsetNanos;
  private long suspendedNanos;
  private long busyUntilNanos;
  private boolean pausesInside;
  private long setBackNanos = Long.MIN_VALUE / 2;
  private long suspendedUntilNanos = Long.MIN_VALUE / 2;

  public final Ticker monotonic =
      new Ticker() {
        @Override
        public long nanos() {
          hesitate();
          return offsetNanos + (long) ((now() - suspendedNanos - beganNanos) * rate);
        }

        @Override
        public ScheduledTask schedule(long nanos, Runnable task) {
          // The margin for rounding: a timer never fires early.
          return world.after((long) (nanos / rate) + 1_000, () -> run(task));
        }
      };

  public final Ticker wall =
      new Ticker() {
        @Override
        public long nanos() {
          hesitate();
          return wallOffsetNanos + (long) ((now() - beganNanos) * wallRate);
        }
      };

  Machine(World world) {
    this.world = world;
    beganNanos = world.nanos();
    rate = 1 + world.random.nextDouble(-WORST_RATE, WORST_RATE);
    wallRate = 1 + world.random.nextDouble(-WORST_RATE, WORST_RATE);
    offsetNanos = world.between(-400 * DAY_NANOS, 400 * DAY_NANOS);
    wallOffsetNanos = world.between(-400 * DAY_NANOS, 400 * DAY_NANOS);
  }

  /** Returns the wall clock, with timers that fire like those of the monotonic clock. */
  public Ticker wallWithTimers() {
    return new Ticker() {
      @Override
      public long nanos() {
        return wall.nanos();
      }

      @Override
      public ScheduledTask schedule(long nanos, Runnable task) {
        return monotonic.schedule(nanos, task);
      }
    };
  }

  public Clocks clocks() {
    return new Clocks(monotonic, wall);
  }

  /** Returns the true time that the machine has reached. */
  long now() {
    return Math.max(world.nanos(), busyUntilNanos);
  }

  /** Runs a task as soon as the machine is not paused. */
  void run(Runnable task) {
    if (busyUntilNanos > world.nanos()) {
      Ticker.ScheduledTask unused = world.at(busyUntilNanos, () -> run(task));
    } else {
      task.run();
    }
  }

  /** Enables pauses between two steps of a decision, once in a while. */
  void pauseInside() {
    pausesInside = true;
  }

  private void hesitate() {
    if (pausesInside && world.once(2_000)) {
      pause(world.between(1_000_000, 400_000_000));
    }
  }

  /** Stops the process for a while: both clocks go on. */
  void pause(long nanos) {
    busyUntilNanos = now() + nanos;
  }

  /** Suspends the machine: the monotonic clock stands still, the wall clock goes on. */
  void suspend(long nanos) {
    if (now() - setBackNanos < APART_NANOS) {
      pause(nanos);
      return;
    }
    suspendedUntilNanos = now() + nanos;
    busyUntilNanos = now() + nanos;
    suspendedNanos += nanos;
  }

  /** Sets the wall clock. */
  void step(long byNanos) {
    if (byNanos < 0) {
      if (world.nanos() - suspendedUntilNanos < APART_NANOS) {
        return;
      }
      setBackNanos = now();
    }
    wallOffsetNanos += byNanos;
  }
}
