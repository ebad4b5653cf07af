package dev.weir.bench.wire;

import dev.weir.Algorithm;
import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.FullMode;
import dev.weir.MemoryStore;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.Ticker;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;

/**
 * A flood of a store with four times the keys that it holds, from two threads, while each also
 * requests one hot key, whose decisions are timed.
 *
 * <pre>Flood [KEYS]</pre>
 */
final class Flood {
  private static final int DEFAULT_KEYS = 1_000_000;
  private static final int TIMES = 4;
  private static final int THREADS = 2;
  private static final long HOT_PERMITS = 100_000;
  private static final long MOST_NANOS = 60_000_000_000L;

  public static void main(String[] args) throws InterruptedException {
    int keys = args.length > 0 ? Integer.parseInt(args[0]) : DEFAULT_KEYS;
    System.out.println(
        "| full | keys asked | keys kept | MiB | hot admitted of | flood M/s | hot p50 | p99 | p99.9"
            + " | most | above 1 ms |\n"
            + "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    flood(FullMode.DENY, keys / 10, false);
    for (FullMode answer : FullMode.values()) {
      flood(answer, keys, true);
    }
  }

  private static void flood(FullMode answer, int keys, boolean shown) throws InterruptedException {
    Ticker ticker = Ticker.system();
    MemoryStore store = new MemoryStore(keys);
    Policy policy =
        Policy.builder(Quota.perDay(HOT_PERMITS))
            .algorithm(Algorithm.SLIDING_WINDOW_COUNTER)
            .whenFull(answer)
            .build();
    Binding limit = store.bind("flood", policy, ticker.nanos());
    Fingerprint fingerprint = Fingerprint.random();
    long hot = fingerprint.of("hot");
    LongAdder admitted = new LongAdder();
    admitted.add(store.decide(limit, hot, 1, ticker.nanos()) >= 0 ? 1 : 0);
    Histogram times = new Histogram(MOST_NANOS, 3);
    Thread[] threads = new Thread[THREADS];
    long begin = System.nanoTime();
    for (int t = 0; t < THREADS; t++) {
      long first = (long) t << 40;
      threads[t] =
          new Thread(
              () -> {
                Histogram mine = new Histogram(MOST_NANOS, 3);
                for (int i = 0; i < TIMES * keys / THREADS; i++) {
                  store.decide(limit, fingerprint.of(first | i), 1, ticker.nanos());
                  long before = System.nanoTime();
                  long hotDecision = store.decide(limit, hot, 1, ticker.nanos());
                  mine.recordValue(System.nanoTime() - before);
                  admitted.add(hotDecision >= 0 ? 1 : 0);
                }
                synchronized (times) {
                  times.add(mine);
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    store.verify();
    if (admitted.sum() != HOT_PERMITS) {
      throw new IllegalStateException(
          "hot: " + admitted + " admitted (expected: " + HOT_PERMITS + ")");
    }
    if (shown) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %,d | %,d | %.1f | %,d of %,d | %.1f | %,d ns | %,d ns | %,d ns | %,d us | %d |%n",
          answer.toString().toLowerCase(Locale.ROOT),
          TIMES * keys,
          store.keys(),
          store.bytes() / 1048576.0,
          admitted.sum(),
          HOT_PERMITS,
          TIMES * keys / seconds / 1e6,
          times.getValueAtPercentile(50),
          times.getValueAtPercentile(99),
          times.getValueAtPercentile(99.9),
          times.getMaxValue() / 1_000,
          times.getCountBetweenValues(1_000_000, times.getHighestTrackableValue()));
    }
  }
}
