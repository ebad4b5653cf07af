package dev.weir.shared;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Has a round of work done by one thread at a time, of those that want one. No thread waits for
 * another; what it brings waits until the thread that holds or works has come to its end. Safe for
 * use by many threads.
 */
public final class Pump {
  /*
   * How does no wish for a round get lost? Each thread counts itself, and the one that finds a count
   * of zero works. When a round is over, it takes off the count as many as it had seen before that
   * round. If others have come since, something is left, and it does another round, which sees what
   * those had brought. Only a thread that has brought the count back to zero may leave, and the next
   * that comes finds zero. A thread that holds is one that works, and has not begun its first round.
   * A round that throws leaves the count at zero: the next that comes works.
   */
  private final AtomicInteger wishes = new AtomicInteger();
  private final Runnable round;

  /**
   * Creates one.
   *
   * @param round does all that can be done; it may {@link #run} this pump, which then goes round
   *     once more
   */
  public Pump(Runnable round) {
    this.round = round;
  }

  /** Has a round done that begins after this call: by this thread, or by one that works already. */
  public void run() {
    if (hold()) {
      release();
    }
  }

  /**
   * Puts off all rounds until {@link #release}, which this thread is to call soon: what is brought
   * meanwhile, by this thread or another, is done together.
   *
   * @return whether it does. If not, a thread holds or works already, which may be this one, and
   *     will do one more round; {@link #release} is not to be called
   */
  public boolean hold() {
    return wishes.getAndIncrement() == 0;
  }

  /**
   * Does the rounds that are due, on this thread, for which {@link #hold} was true. If a round
   * throws, so does this, and what is left waits for the next {@link #run}.
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
