package dev.weir.bench.redis;

import dev.weir.Algorithm;
import dev.weir.Policy;
import dev.weir.Quota;
import dev.weir.bench.Callers;
import dev.weir.bench.Keys;
import dev.weir.bench.peers.WeirRedisLimiter;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A measurement of a key's memory in Redis: the memory in use before and after the keys are
 * charged, divided by keys, and Redis's own figure for each. The name is part of it, if a limiter
 * keeps it: {@code api:} and 15 characters.
 */
final class RedisMemory {
  private static final int KEYS = 10_000;

  /**
   * The number of keys for a limiter that has an object and three entries a key, charged a hundred
   * times.
   */
  private static final int FEWER_KEYS = 1_000;

  private static final int PERMITS = 100;

  /** The quota, over so long a time that nothing expires during the measurement. */
  private static final Quota QUOTA = Quota.perHour(PERMITS);

  /** The window of granules, which is filled in real time. */
  private static final Duration SHORT = Duration.ofSeconds(16);

  private final RedisClients clients;
  private final Callers callers;
  private final RedisFigures figures;

  RedisMemory(RedisClients clients, Callers callers) {
    this.clients = clients;
    this.callers = callers;
    this.figures = new RedisFigures(clients.connection());
  }

  /** Prints the table. */
  void all() throws InterruptedException {
    System.out.printf(
        "%n**Memory in Redis**%n%n"
            + "| state | keys | bytes a key, used_memory | MEMORY USAGE | entries a key |%n"
            + "|---|---|---|---|---|%n");
    weir("Weir, token bucket", Algorithm.TOKEN_BUCKET, QUOTA, 1, Duration.ZERO);
    weir("Weir, fixed window", Algorithm.FIXED_WINDOW, QUOTA, 1, Duration.ZERO);
    Quota brief = Quota.of(PERMITS, SHORT.dividedBy(4));
    weir(
        "Weir, sliding-window counter, two windows",
        Algorithm.SLIDING_WINDOW_COUNTER,
        brief,
        2,
        brief.window());
    weir(
        "Weir, sliding-window buckets, all " + Policy.DEFAULT_GRANULES + " granules",
        Algorithm.SLIDING_WINDOW_BUCKETS,
        Quota.of(PERMITS, SHORT),
        Policy.DEFAULT_GRANULES,
        SHORT.dividedBy(Policy.DEFAULT_GRANULES));
    weir(
        "Weir, exact log, " + PERMITS + " of " + PERMITS,
        Algorithm.SLIDING_WINDOW_LOG,
        QUOTA,
        PERMITS,
        Duration.ZERO);
    StatefulRedisConnection<String, String> connection = clients.connection();
    AtomicLong micros = new AtomicLong(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()));
    weigh(
        "a sorted set of " + PERMITS + " times in microseconds",
        KEYS,
        PERMITS,
        Duration.ZERO,
        () ->
            key -> {
              long now = micros.incrementAndGet();
              return connection.sync().zadd("api:" + key, (double) now, Long.toString(now)) == 1;
            });
    peer("Bucket4j", RedisContender.BUCKET4J, KEYS, 1);
    peer("Redisson, just begun", RedisContender.REDISSON, KEYS, 1);
    peer("Redisson, " + PERMITS + " of " + PERMITS, RedisContender.REDISSON, FEWER_KEYS, PERMITS);
  }

  private void weir(String name, Algorithm algorithm, Quota quota, int charges, Duration pause)
      throws InterruptedException {
    Policy policy = Policy.builder(quota).name("api").algorithm(algorithm).build();
    weigh(name, KEYS, charges, pause, () -> new WeirRedisLimiter(clients.store(), policy)::fill);
  }

  private void peer(String name, RedisContender contender, int keys, int charges)
      throws InterruptedException {
    Policy policy = RedisScenario.bucket("api", QUOTA, PERMITS);
    weigh(name, keys, charges, Duration.ZERO, () -> contender.limiter(clients, policy)::fill);
  }

  /** Measures a limiter, and prints its line of the table. */
  private void weigh(
      String name, int keys, int charges, Duration pause, Supplier<Predicate<String>> limiter)
      throws InterruptedException {
    System.err.printf("memory: %s%n", name);
    try {
      System.out.printf("| %s %s%n", name, weigh(keys, charges, pause, limiter.get()));
    } catch (RuntimeException e) {
      System.out.printf("| %s | not measured: %s | | | |%n", name, e);
    }
  }

  /** Charges every key several times, at equal distances, and returns its memory. */
  private String weigh(int count, int charges, Duration pause, Predicate<String> charge)
      throws InterruptedException {
    String[] keys = Keys.of(count);
    figures.clear();
    charge(charge, "warm"); // It loads a script, which belongs to no key.
    figures.clear();
    long before = figures.usedMemory();
    long begun = System.nanoTime();
    for (int i = 0; i < charges; i++) {
      TimeUnit.NANOSECONDS.sleep(begun + i * pause.toNanos() - System.nanoTime());
      callers.each(count, n -> charge(charge, keys[n]));
    }
    long used = figures.usedMemory() - before;
    long entries = figures.keys();
    return String.format(
        Locale.ROOT,
        "| %,d | %,.0f | %,.0f | %.2f |",
        count,
        (double) used / count,
        (double) figures.memoryUsage() / count,
        (double) entries / count);
  }

  private static void charge(Predicate<String> charge, String key) {
    if (!charge.test(key)) {
      throw new IllegalStateException("denied " + key + " (expected: allowed)");
    }
  }
}
