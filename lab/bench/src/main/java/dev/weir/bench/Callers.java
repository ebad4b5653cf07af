package dev.weir.bench;

import dev.weir.bench.peers.AsyncLimiter;
import dev.weir.bench.peers.KeyedLimiter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Threads that call a limiter as fast as it answers, in a closed loop: each waits for its answer
 * and calls again, or, asynchronously, has several calls in flight.
 */
public final class Callers implements AutoCloseable {
  public static final int THREADS = 32;
  public static final int ASYNC_THREADS = 4;

  /** The calls in flight of one thread. */
  public static final int IN_FLIGHT = 256;

  private static final long SEED = 20_261_101;

  /**
   * The beginning of each run that is not measured: buckets that were full run dry, leases are
   * taken.
   */
  private static final long LEAD_IN_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /** The number of failures after which a caller gives up. */
  private static final int MOST_FAILURES = 100;

  /** The longest time after a run until every call must be over. */
  private static final int PATIENCE_SECONDS = 60;

  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);

  /** One thread's part of a run. */
  private interface Caller {
    void call(int number, Answers answers, long fromNanos, long untilNanos)
        throws InterruptedException;
  }

  /** Requests permits for keys at random, from many threads that wait for each answer. */
  public Answers request(KeyedLimiter limiter, List<String> keys, int seconds)
      throws InterruptedException {
    return run(
        THREADS,
        seconds,
        (number, answers, from, until) ->
            waiting(limiter, draw(keys, number), answers, from, until));
  }

  /** Requests permits for keys at random, from few threads that do not wait. */
  public Answers requestAsync(AsyncLimiter limiter, List<String> keys, int seconds)
      throws InterruptedException {
    return run(
        ASYNC_THREADS,
        seconds,
        (number, answers, from, until) -> ahead(limiter, draw(keys, number), answers, from, until));
  }

  /** Runs an action for each number from 0 to {@code count - 1}, from many threads. */
  public void each(int count, IntConsumer action) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> parts = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      parts.add(
          threads.submit(
              () -> {
                for (int n = next.getAndIncrement(); n < count; n = next.getAndIncrement()) {
                  action.accept(n);
                }
              }));
    }
    join(parts, PATIENCE_SECONDS);
  }

  private Answers run(int count, int seconds, Caller caller) throws InterruptedException {
    long from = System.nanoTime() + LEAD_IN_NANOS;
    long until = from + TimeUnit.SECONDS.toNanos(seconds);
    List<Answers> answers = new ArrayList<>();
    List<Future<?>> parts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      Answers own = new Answers(seconds);
      answers.add(own);
      parts.add(
          threads.submit(
              () -> {
                caller.call(number, own, from, until);
                return null;
              }));
    }
    join(parts, seconds + PATIENCE_SECONDS);
    Answers all = new Answers(seconds);
    answers.forEach(all::add);
    return all;
  }

  private static void waiting(
      KeyedLimiter limiter, Draws draws, Answers answers, long from, long until) {
    int failures = 0;
    long begun = System.nanoTime();
    while (begun - until < 0 && failures < MOST_FAILURES) {
      try {
        boolean allowed = limiter.tryAcquire(draws.next());
        long ended = System.nanoTime();
        answers.decided(allowed, ended - begun, ended - from >= 0 && ended - until < 0);
        begun = ended;
      } catch (RuntimeException e) {
        answers.failed(e);
        failures++;
        begun = System.nanoTime();
      }
    }
  }

  private static void ahead(
      AsyncLimiter limiter, Draws draws, Answers answers, long from, long until)
      throws InterruptedException {
    Semaphore room = new Semaphore(IN_FLIGHT);
    while (System.nanoTime() - until < 0 && answers.failed() < MOST_FAILURES) {
      room.acquire();
      long begun = System.nanoTime();
      limiter
          .tryAcquireAsync(draws.next())
          .whenComplete(
              (allowed, failure) -> {
                long ended = System.nanoTime();
                if (failure == null) {
                  answers.decided(allowed, ended - begun, ended - from >= 0 && ended - until < 0);
                } else {
                  answers.failed(failure);
                }
                room.release();
              });
    }
    if (!room.tryAcquire(IN_FLIGHT, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("calls in flight have no answer (expected: all have)");
    }
  }

  /** A sequence of keys, drawn uniformly. */
  private interface Draws {
    String next();
  }

  private static Draws draw(List<String> keys, int number) {
    SplittableRandom random = new SplittableRandom(SEED + number);
    return () -> keys.get(random.nextInt(keys.size()));
  }

  private static void join(List<Future<?>> parts, int seconds) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    for (Future<?> part : parts) {
      try {
        part.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      } catch (TimeoutException e) {
        throw new IllegalStateException("callers: not done after " + seconds + " s", e);
      }
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
