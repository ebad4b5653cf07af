package dev.weir.redis;

import dev.weir.Decision;
import dev.weir.Policy;
import dev.weir.RateLimiter;
import dev.weir.Reason;
import dev.weir.testkit.WindowChecker;
import dev.weir.testkit.WindowChecker.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that request the same keys from several stores until they are stopped, whatever happens
 * to Redis meanwhile.
 */
final class Crowd implements AutoCloseable {
  private static final int THREADS = 2;

  /** The pause of a client after a refusal: without it, a test would get nothing but refusals. */
  private static final long PAUSE_NANOS = 50_000;

  private static final long WATCH_NANOS = 10_000_000;
  private static final long HELD_UP_NANOS = 100_000_000;

  private final Policy policy;
  private final int keys;
  private final List<RateLimiter> limiters = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Queue<Operation> admitted = new ConcurrentLinkedQueue<>();
  private final LongAdder permits = new LongAdder();
  private final Map<Reason, LongAdder> reasons = new ConcurrentHashMap<>();
  private final AtomicLong slowestNanos = new AtomicLong();
  private final AtomicLong heldUpNanos = new AtomicLong();
  private final AtomicLong probes = new AtomicLong();
  private volatile boolean stopped;

  private Crowd(Policy policy, int keys) {
    this.policy = policy;
    this.keys = keys;
  }

  /** Starts two threads for each store, which request that many keys. */
  static Crowd start(Policy policy, int keys, List<RedisStore> stores) {
    Crowd crowd = new Crowd(policy, keys);
    for (RedisStore store : stores) {
      RateLimiter limiter = RateLimiter.builder(policy).store(store).build();
      crowd.limiters.add(limiter);
      for (int i = 0; i < THREADS; i++) {
        Thread thread = new Thread(() -> crowd.run(limiter));
        thread.setDaemon(true);
        crowd.threads.add(thread);
      }
    }
    Thread watch = new Thread(crowd::watch);
    watch.setDaemon(true);
    crowd.threads.add(watch);
    crowd.threads.forEach(Thread::start);
    return crowd;
  }

  /** Adds up the time for which this process got no processor, or was halted. */
  private void watch() {
    long before = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(WATCH_NANOS);
      long now = System.nanoTime();
      long late = now - before - WATCH_NANOS;
      heldUpNanos.addAndGet(late > HELD_UP_NANOS ? late : 0);
      before = now;
    }
  }

  private void run(RateLimiter limiter) {
    SplittableRandom random = new SplittableRandom();
    while (!stopped) {
      if (!request(limiter, "key " + random.nextInt(keys)).allowed()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  private Decision request(RateLimiter limiter, String key) {
    long start = System.nanoTime();
    Decision decision = limiter.tryAcquire(key);
    long end = System.nanoTime();
    slowestNanos.accumulateAndGet(end - start, Math::max);
    reasons.computeIfAbsent(decision.reason(), reason -> new LongAdder()).increment();
    if (decision.allowed()) {
      admitted.add(new Operation(key, 1, start, end, true, decision.reason()));
      permits.increment();
    }
    return decision;
  }

  /** Waits until each store answers a request for a new key with that reason. */
  void await(Reason reason) {
    for (RateLimiter limiter : limiters) {
      Redis.await(() -> request(limiter, "probe " + probes.incrementAndGet()).reason() == reason);
    }
  }

  /** Waits until that many permits have been admitted since the start. */
  void awaitAdmitted(long count) {
    Redis.await(() -> permits.sum() >= count);
  }

  /** Waits until that many answers had the reason since the start. */
  void awaitAnswers(Reason reason, long count) {
    Redis.await(() -> answers(reason) >= count);
  }

  /** Returns all requested keys. */
  List<String> keys() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      all.add("key " + i);
    }
    for (long i = 1; i <= probes.get(); i++) {
      all.add("probe " + i);
    }
    return all;
  }

  /** Returns the number of answers with that reason. */
  long answers(Reason reason) {
    LongAdder count = reasons.get(reason);
    return count == null ? 0 : count.sum();
  }

  /** Returns the number of admitted permits. */
  long admitted() {
    return permits.sum();
  }

  /** Returns the time that the slowest answer took. */
  long slowestNanos() {
    return slowestNanos.get();
  }

  /** Returns the least time for which all threads were held up, in pauses of more than 100 ms. */
  long heldUpNanos() {
    return heldUpNanos.get();
  }

  /** Returns by how many permits some window certainly exceeds the quota, for the worst key. */
  long excess() {
    return WindowChecker.certainExcess(
        admitted, policy.quota().windowNanos(), policy.quota().permits());
  }

  /** Ends all threads, after their last answers. */
  Crowd stop() {
    stopped = true;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
    return this;
  }

  @Override
  public void close() {
    stop();
  }
}
