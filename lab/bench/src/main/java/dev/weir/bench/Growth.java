package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Ticker;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;

/**
 * A measurement that grows a table under load and times every decision: half of them add a key,
 * half are for an existing one.
 *
 * <pre>Growth [KEYS [THREADS]]</pre>
 *
 * <p>To be run with a young generation so large that nothing is collected: then no pause is the
 * collector's. After each decision the same clock is read around nothing at all. If something takes
 * the processor away from a thread, be it the compiler or the machine, it shows in both; a delay
 * that shows only in decisions is caused by them.
 */
final class Growth {
  private static final int FIRST_KEYS = 1_000;
  private static final int DEFAULT_KEYS = 10_000_000;
  private static final long MOST_NANOS = 60_000_000_000L;
  private static final long SLOW_NANOS = 1_000_000;

  private final MemoryStore store;
  private final Binding limit;
  private final long permits;
  private final int keys;
  private final int threads;
  private final Ticker ticker = Ticker.system();

  private Growth(int keys, int threads) {
    this.keys = keys;
    this.threads = threads;
    store = new MemoryStore(2L * keys, Long.MAX_VALUE / 2);
    Policy policy = Load.ALL_ALLOWED.policy(Algorithm.TOKEN_BUCKET);
    permits = Load.ALL_ALLOWED.fillPermits(policy);
    limit = store.bind("growth", policy, ticker.nanos());
  }

  /** The times that one thread measured. */
  private static final class Times {
    final Histogram all = new Histogram(MOST_NANOS, 3);
    final Histogram control = new Histogram(MOST_NANOS, 3);
  }

  public static void main(String[] args) throws InterruptedException {
    int keys = args.length > 0 ? Integer.parseInt(args[0]) : DEFAULT_KEYS;
    int threads = args.length > 1 ? Integer.parseInt(args[1]) : 1;
    new Growth(keys / 10, threads).run(); // It compiles everything; its figures are not shown.
    new Growth(keys, threads).report();
  }

  private void report() throws InterruptedException {
    long before = collections();
    Times times = run();
    System.out.printf(
        Locale.ROOT,
        "%n**%,d to %,d keys, %d %s, %.1f bytes a key**%n%n"
            + "| | decisions | p50 | p99 | p99.9 | p99.99 | most | above 1 ms |%n"
            + "| --- | --- | --- | --- | --- | --- | --- | --- |%n",
        FIRST_KEYS,
        keys,
        threads,
        threads == 1 ? "thread" : "threads",
        (double) store.bytes() / store.keys());
    row("decisions", times.all);
    row("nothing", times.control);
    System.out.println("\nCollections meanwhile: " + (collections() - before));
    if (store.keys() != keys) {
      throw new IllegalStateException("keys: " + store.keys() + " (expected: " + keys + ")");
    }
  }

  private static long collections() {
    return ManagementFactory.getGarbageCollectorMXBeans().stream()
        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
        .sum();
  }

  private static void row(String name, Histogram times) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %,d | %,d ns | %,d ns | %,d ns | %,d ns | %,d us | %d |%n",
        name,
        times.getTotalCount(),
        times.getValueAtPercentile(50),
        times.getValueAtPercentile(99),
        times.getValueAtPercentile(99.9),
        times.getValueAtPercentile(99.99),
        times.getMaxValue() / 1_000,
        times.getCountBetweenValues(SLOW_NANOS, times.getHighestTrackableValue()));
  }

  private Times run() throws InterruptedException {
    for (int i = 0; i < FIRST_KEYS; i++) {
      store.decide(limit, Keys.hashed(i), permits, ticker.nanos());
    }
    Times sum = new Times();
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int number = i;
      Thread thread =
          new Thread(
              () -> {
                Times mine = new Times();
                grow(number, mine);
                synchronized (sum) {
                  sum.all.add(mine.all);
                  sum.control.add(mine.control);
                }
              });
      thread.start();
      running.add(thread);
    }
    for (Thread thread : running) {
      thread.join();
    }
    return sum;
  }

  /** Adds every key whose number leaves that remainder, and requests an earlier one after each. */
  private void grow(int remainder, Times times) {
    SplittableRandom random = new SplittableRandom(remainder);
    for (int key = FIRST_KEYS + remainder; key < keys; key += threads) {
      timed(key, times);
      timed(random.nextInt(key), times);
    }
  }

  private void timed(int key, Times times) {
    long begin = System.nanoTime();
    store.decide(limit, Keys.hashed(key), permits, ticker.nanos());
    long end = System.nanoTime();
    long control = System.nanoTime();
    times.all.recordValue(end - begin);
    times.control.recordValue(control - end);
  }
}
