package dev.weir.cluster.internal.map;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The moves of slots, again and again: less often while all are in their places. */
public final class SlotMover {
  private static final long REST_MILLIS = 1_000;

  /** The pause before a failed step of a slot's move is repeated, while any slot has to move. */
  private static final long MOVING_MILLIS = 100;

  private final Rebalancer rebalancer;
  private final ScheduledExecutorService thread;
  private final BooleanSupplier open;
  private final Consumer<? super String> log;

  /**
   * @param thread runs the moves
   * @param open returns false when they have to end
   */
  public SlotMover(
      Rebalancer rebalancer,
      ScheduledExecutorService thread,
      BooleanSupplier open,
      Consumer<? super String> log) {
    this.rebalancer = rebalancer;
    this.thread = thread;
    this.open = open;
    this.log = log;
  }

  /** Moves slots from now on. */
  public void begin() {
    moveLater(MOVING_MILLIS);
  }

  private void moveLater(long millis) {
    var unused = thread.schedule(this::move, millis, TimeUnit.MILLISECONDS);
  }

  private void move() {
    if (!open.getAsBoolean()) {
      return;
    }
    long pause = MOVING_MILLIS;
    try {
      rebalancer.tick();
      pause = rebalancer.rests() ? REST_MILLIS : MOVING_MILLIS;
    } catch (RuntimeException e) {
      log.accept("cluster: slots do not move: " + e);
    }
    moveLater(pause);
  }
}
