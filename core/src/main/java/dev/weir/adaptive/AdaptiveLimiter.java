package dev.weir.adaptive;

import dev.weir.Ticker;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * A limit on how many requests of this process a backend serves at the same time, which is found by
 * itself from the latencies and failures of the requests. Safe for use by many threads; it has no
 * thread of its own and need not be closed.
 *
 * <pre>{@code
 * AdaptiveLimiter limiter = AdaptiveLimiter.builder().floor(4).initial(20).ceiling(200).build();
 * try (AdaptivePermit permit = limiter.tryAcquire()) {
 *   if (permit.granted()) {
 *     Reply reply = backend.call();
 *     permit.end(reply.overloaded() ? RequestOutcome.DROPPED : RequestOutcome.SUCCEEDED);
 *   }
 * }
 * }</pre>
 *
 * <p>A permit is given out only while fewer are out than the limit. If the limit falls, no permit
 * is taken away, and none is given out until enough have ended. The limit stays between a floor and
 * a ceiling, and rises only while at least half of it is in use.
 *
 * <p>Use one limiter for each backend whose load is its own. The limit is that of this process:
 * nothing of it is kept in a store, and other processes find theirs. Permits are not lost: work
 * that may never end needs a timeout of its own.
 */
public final class AdaptiveLimiter {
  /** The longest wait; a longer timeout is this one. */
  private static final Duration LONGEST_WAIT = Duration.ofDays(366);

  private final Ticker ticker;
  private final PermitCount count;
  private final AdaptiveSearch search;
  private final PermitQueue queue;
  private final long droppedFromNanos;
  private final LongAdder refused = new LongAdder();

  private AdaptiveLimiter(Builder builder) {
    ticker = builder.ticker;
    count = new PermitCount(builder.first());
    search = new AdaptiveSearch(builder, count, ticker.nanos());
    queue = new PermitQueue(this, count, builder.maxWaiting);
    droppedFromNanos = builder.droppedFromNanos;
  }

  /** Returns a builder. */
  public static Builder builder() {
    return new Builder();
  }

  /** Takes a permit, or is refused at once. It does not overtake requests that wait. */
  public AdaptivePermit tryAcquire() {
    int out = count.take();
    return out > 0 ? permit(out) : refused();
  }

  /**
   * Takes a permit, and waits for it for at most the timeout, in the order of arrival.
   *
   * @param timeout 0 or less does not wait; at most 366 days count
   * @return a refusal after the timeout, or at once if as many wait as may
   * @throws InterruptedException if the thread is interrupted while it waits; it has no permit then
   */
  public AdaptivePermit acquire(Duration timeout) throws InterruptedException {
    CompletableFuture<AdaptivePermit> answer = acquireAsync(timeout);
    try {
      return answer.get();
    } catch (InterruptedException e) {
      if (!answer.cancel(false)) {
        answer.join().close(); // It came meanwhile.
      }
      throw e;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // It is only completed with values.
    }
  }

  /**
   * Takes a permit like {@link #acquire}, without waiting for it. A future that is cancelled leaves
   * the queue. Dependents of the future run on the thread that gives a permit back, and must not
   * block.
   */
  public CompletableFuture<AdaptivePermit> acquireAsync(Duration timeout) {
    long timeoutNanos = waitNanos(timeout);
    int out = count.take(); // Mostly there is room, and no need for the lock.
    if (out == 0 && timeoutNanos > 0) {
      return queue.join(timeoutNanos);
    }
    return CompletableFuture.completedFuture(out > 0 ? permit(out) : refused());
  }

  /** Returns the permits that may be out now. */
  public int limit() {
    return PermitCount.limit(count.word());
  }

  /** Returns the permits that are out; more than the limit after it has fallen. */
  public int inFlight() {
    return PermitCount.out(count.word());
  }

  /** Returns the number of requests that wait for a permit. */
  public int waiting() {
    return PermitCount.waiting(count.word());
  }

  /** Returns the number of requests that were refused since the limiter was built. */
  public long refusals() {
    return refused.sum();
  }

  /** Returns the state of the limiter, with the reason for its limit. */
  public LimitExplanation explain() {
    return search.explain(nanos());
  }

  Ticker ticker() {
    return ticker;
  }

  long nanos() {
    return ticker.nanos();
  }

  AdaptivePermit permit(int out) {
    return new AdaptivePermit(this, out, nanos());
  }

  AdaptivePermit refused() {
    refused.increment();
    return AdaptivePermit.REFUSED;
  }

  void learn(RequestOutcome outcome, long beganNanos, int out) {
    if (outcome == RequestOutcome.IGNORED) {
      return;
    }
    long now = nanos();
    if (outcome == RequestOutcome.DROPPED || now - beganNanos >= droppedFromNanos) {
      search.dropped(beganNanos, now);
    } else if (search.succeeded(beganNanos, out, now)) {
      queue.grant();
    }
  }

  void release() {
    if (count.giveBack()) {
      queue.grant();
    }
  }

  private static <T> T named(String name, @Nullable T value) {
    return Objects.requireNonNull(value, name + ": null (expected: a value)");
  }

  private static long waitNanos(Duration timeout) {
    if (named("timeout", timeout).isNegative()) {
      return 0; // However long ago, which need not be a number of nanoseconds.
    }
    return timeout.compareTo(LONGEST_WAIT) < 0 ? timeout.toNanos() : LONGEST_WAIT.toNanos();
  }

  /** The settings of a limiter to be built. Used by one thread. */
  public static final class Builder {
    private static final Duration LEAST_TIME = Duration.ofMillis(1);
    private static final Duration MOST_TIME = Duration.ofHours(1);
    private static final double MOST_TOLERANCE = 10;
    private static final int INITIAL = 20;

    int floor = 1;
    int ceiling = 1_000;
    AdaptiveAlgorithm algorithm = AdaptiveAlgorithm.GRADIENT;
    double tolerance = 1.5;
    long windowNanos = Duration.ofMillis(200).toNanos();
    private int initial;
    private long droppedFromNanos = Long.MAX_VALUE;
    private int maxWaiting = 1_000;
    private Ticker ticker = Ticker.system();

    private Builder() {}

    /**
     * Sets the least limit. Default: 1.
     *
     * @param permits 1 to 1,000,000
     */
    public Builder floor(int permits) {
      floor = permits("floor", permits, 1);
      return this;
    }

    /**
     * Sets the first limit. Default: 20, or the nearest between floor and ceiling.
     *
     * @param permits 1 to 1,000,000, between floor and ceiling
     */
    public Builder initial(int permits) {
      initial = permits("initial", permits, 1);
      return this;
    }

    /**
     * Sets the greatest limit. Default: 1,000.
     *
     * @param permits 1 to 1,000,000
     */
    public Builder ceiling(int permits) {
      ceiling = permits("ceiling", permits, 1);
      return this;
    }

    /** Sets the algorithm. Default: {@link AdaptiveAlgorithm#GRADIENT}. */
    public Builder algorithm(AdaptiveAlgorithm newAlgorithm) {
      algorithm = named("algorithm", newAlgorithm);
      return this;
    }

    /**
     * Sets how many times the long latency {@link AdaptiveAlgorithm#GRADIENT} takes for no queue.
     * Default: 1.5.
     *
     * @param factor 1 to 10
     */
    public Builder tolerance(double factor) {
      if (!(factor >= 1 && factor <= MOST_TOLERANCE)) {
        throw new IllegalArgumentException("tolerance: " + factor + " (expected: 1 to 10)");
      }
      tolerance = factor;
      return this;
    }

    /**
     * Sets the shortest time between two steps of the limit; it is longer while latencies are.
     * Default: 200 ms.
     *
     * @param time 1 ms to 1 hour
     */
    public Builder window(Duration time) {
      windowNanos = time("window", time);
      return this;
    }

    /**
     * Counts a request that succeeds as dropped if its latency is this or longer. Default: no
     * latency is.
     *
     * @param latency 1 ms to 1 hour
     */
    public Builder droppedFrom(Duration latency) {
      droppedFromNanos = time("droppedFrom", latency);
      return this;
    }

    /**
     * Bounds the number of requests that wait at once; a further one is refused. Default: 1,000.
     *
     * @param requests 0 to 1,000,000
     */
    public Builder maxWaiting(int requests) {
      maxWaiting = permits("maxWaiting", requests, 0);
      return this;
    }

    /** Replaces the system's clock. */
    public Builder ticker(Ticker newTicker) {
      ticker = named("ticker", newTicker);
      return this;
    }

    /**
     * Builds the limiter.
     *
     * @throws IllegalArgumentException if the floor is above the ceiling, or the first limit is not
     *     between them
     */
    public AdaptiveLimiter build() {
      if (floor > ceiling) {
        throw new IllegalArgumentException(
            "floor: " + floor + " (expected: at most the ceiling, " + ceiling + ")");
      }
      if (initial != 0 && (initial < floor || initial > ceiling)) {
        throw new IllegalArgumentException(
            "initial: " + initial + " (expected: " + floor + ".." + ceiling + ")");
      }
      return new AdaptiveLimiter(this);
    }

    private int first() {
      return initial != 0 ? initial : Math.max(floor, Math.min(ceiling, INITIAL));
    }

    private static int permits(String name, int value, int least) {
      if (value < least || value > PermitCount.MOST) {
        throw new IllegalArgumentException(
            name + ": " + value + " (expected: " + least + ".." + PermitCount.MOST + ")");
      }
      return value;
    }

    private static long time(String name, Duration value) {
      if (named(name, value).compareTo(LEAST_TIME) < 0 || value.compareTo(MOST_TIME) > 0) {
        throw new IllegalArgumentException(name + ": " + value + " (expected: 1 ms to 1 hour)");
      }
      return value.toNanos();
    }
  }
}
