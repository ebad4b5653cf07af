package dev.weir.bench;

import dev.weir.Algorithm;
import dev.weir.PackedLimiter;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.RateLimiter;
import dev.weir.Ticker;
import dev.weir.bench.peers.DequeLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import dev.weir.bench.peers.WeirLimiter;
import dev.weir.bench.peers.WeirQuotasLimiter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * A measurement of the memory of a live key: heap in use after a full collection, before and after
 * the keys are charged, divided by keys. The text of the key is not counted, since every service
 * has it anyway and some limiters keep it while others do not.
 *
 * <pre>BytesPerKey [KEYS [ALGORITHM,...]]</pre>
 *
 * <p>With algorithms, only Weir's are measured, by keys that are numbers; a log is measured at its
 * limit.
 *
 * <p>To be run with the serial collector, which counts objects and not regions. A million keys fit
 * into a heap of 1 GiB.
 */
final class BytesPerKey {
  private static final int DEFAULT_KEYS = 1_000_000;

  /** The factor by which fewer keys suffice for a log at its limit, which is so much larger. */
  private static final int FEWER = 10;

  private static final int LOG_PERMITS = 100;
  private static final long SECOND = 1_000_000_000L;

  private final String[] keys;
  private final AtomicLong now = new AtomicLong(System.currentTimeMillis() * 1_000_000);

  private BytesPerKey(int count) {
    keys = Keys.of(count);
  }

  public static void main(String[] args) {
    int count = args.length == 0 ? DEFAULT_KEYS : Integer.parseInt(args[0]);
    System.out.println("| limiter | keys | bytes a key |\n| --- | --- | --- |");
    if (args.length > 1) {
      for (String algorithm : args[1].split(",", -1)) {
        weighNumbers(Algorithm.of(algorithm), count);
      }
      return;
    }
    BytesPerKey few = new BytesPerKey(count);
    for (Contender contender : Contender.values()) {
      Ticker ticker = few.now::get;
      few.weigh(
          contender.toString(),
          1,
          load ->
              contender.limiter(load, ticker, io.github.bucket4j.TimeMeter.SYSTEM_MILLISECONDS));
    }
    BytesPerKey full = new BytesPerKey(Math.max(1, count / FEWER));
    Quota quota = Quota.perMinute(LOG_PERMITS);
    full.weigh(
        "weir's default, 100 of 100 a minute",
        LOG_PERMITS,
        load -> WeirQuotasLimiter.ofDecisions(List.of(quota), full.now::get));
    full.weigh(
        "the same with 10 a second as well",
        LOG_PERMITS,
        load -> WeirQuotasLimiter.ofDecisions(List.of(Quota.perSecond(10), quota), full.now::get));
    full.weigh(
        "weir-sliding-window-log, 100 of 100 a minute",
        LOG_PERMITS,
        load -> {
          Policy policy = Policy.builder(quota).algorithm(Algorithm.SLIDING_WINDOW_LOG).build();
          return new WeirLimiter(policy, 1, full.now::get);
        });
    full.weigh(
        "deques, 100 of 100 a minute", LOG_PERMITS, load -> new DequeLimiter(quota, full.now::get));
  }

  /** Measures Weir alone, by keys that are numbers, of which there can be many more. */
  private static void weighNumbers(Algorithm algorithm, int count) {
    Policy policy = Load.ALL_ALLOWED.policy(algorithm);
    int charges = 1;
    if (algorithm == Algorithm.SLIDING_WINDOW_LOG || algorithm == Algorithm.SLIDING_WINDOW) {
      policy = Policy.builder(Quota.perMinute(LOG_PERMITS)).algorithm(algorithm).build();
      charges = LOG_PERMITS;
    }
    AtomicLong now = new AtomicLong(System.currentTimeMillis() * 1_000_000);
    long before = used();
    RateLimiter limiter =
        RateLimiter.builder(policy).ticker(now::get).maxKeys(Keys.MOST).maxBytes(1L << 36).build();
    PackedLimiter packed = limiter.packed();
    for (int charge = 0; charge < charges; charge++) {
      for (int i = 0; i < count; i++) {
        if (packed.decide(i, 1) < 0) {
          throw new IllegalStateException("denied " + i + " (expected: allowed)");
        }
      }
      now.addAndGet(SECOND * 59 / 100);
    }
    double bytes = (double) (used() - before) / count;
    String what = charges == 1 ? "" : ", %1$d of %1$d a minute".formatted(charges);
    System.out.printf(
        Locale.ROOT, "| weir-%s%s, by number | %,d | %.2f |%n", algorithm, what, count, bytes);
    if (limiter.keys() != count) {
      throw new IllegalStateException("keys: " + limiter.keys() + " (expected: " + count + ")");
    }
  }

  /** Charges every key several times, each time at another instant, and prints its memory. */
  private void weigh(String name, int permits, Function<Load, KeyedLimiter> limiters) {
    long before = used();
    KeyedLimiter limiter = limiters.apply(Load.ALL_ALLOWED);
    for (int i = 0; i < permits; i++) {
      for (String key : keys) {
        if (!limiter.fill(key)) {
          throw new IllegalStateException(name + ": denied " + key + " (expected: allowed)");
        }
      }
      now.addAndGet(SECOND * 59 / 100); // A hundred charges are spread evenly over a minute.
    }
    double bytes = (double) (used() - before) / keys.length;
    System.out.printf(Locale.ROOT, "| %s | %,d | %.0f |%n", name, keys.length, bytes);
    if (!limiter.tryAcquire(keys[0]) && permits == 1) {
      throw new IllegalStateException(name + ": denied " + keys[0] + " (expected: allowed)");
    }
  }

  /**
   * Returns the heap in use after a full collection, the least of several: the serial collector
   * compacts the heap only every fourth time, and in between counts a share of the dead objects as
   * used.
   */
  private static long used() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
    }
    return least;
  }
}
