package dev.weir.server.internal.deciding;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/** The sum of several numbers that may come later and on other threads. */
final class Tally {
  private final AtomicInteger missing;
  private final LongAdder sum = new LongAdder();
  private final LongConsumer done;

  /**
   * @param count the number of summands; one more is to be added after all have been requested
   * @param done receives the sum once
   */
  Tally(int count, LongConsumer done) {
    missing = new AtomicInteger(count + 1);
    this.done = done;
  }

  void add(long number) {
    sum.add(number);
    if (missing.decrementAndGet() == 0) {
      done.accept(sum.sum());
    }
  }
}
