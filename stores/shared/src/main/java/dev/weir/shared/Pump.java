package dev.weir.shared;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pump of work: one thread at a time does a round of it, for all threads that want one. No thread
 * waits for another; its work waits until the thread that holds or works has finished. Safe for use
 * by many threads.
 */
public final class Pump {
  /*
   * Why is no request for a round lost? Each thread adds one to the count, and the one that finds a
   * count of zero works. After a round, it subtracts the count that it had seen before that round.
   * If others have come since, the rest is more than zero, and it does another round, which covers
   * their work. Only a thread that has brought the count back to zero may leave, and the next that
   * comes finds zero. A thread that holds is one that works, and has not begun its first round.
   * After a round that throws, the count is zero: the next thread works.
   */
  private final AtomicInteger wishes = new AtomicInteger();
  private final Runnable round;

  /**
   * Creates a pump.
   *
   * @param round does all work that can be done; it may {@link #run} this pump, which causes one
   *     more round
   */
  public Pump(Runnable round) {
    this.round = round;
  }

  /** Causes a round that begins after this call: by this thread, or by one that already works. */
  public void run() {
    if (hold()) {
      release();
    }
  }

  /**
   * Puts off all rounds until {@link #release}, which this thread must call soon: work of this and
   * other threads that comes meanwhile is done together.
   *
   * @return true if rounds are put off. If not, a thread already holds or works, which may be this
   *     one, and will do one more round; {@link #release} must not be called
   */
  public boolean hold() {
    return wishes.getAndIncrement() == 0;
  }

  /**
   * Does the due rounds on this thread, for which {@link #hold} was true. If a round throws, so
   * does this method, and the remaining work waits for the next {@link #run}.
   */
  public void release() {
    int seen = 1;
    try {
      do {
        round.run();
        seen = wishes.addAndGet(-seen);
      } while (seen != 0);
    } finally {
      if (seen != 0) {
        wishes.set(0);
      }
    }
  }
}
