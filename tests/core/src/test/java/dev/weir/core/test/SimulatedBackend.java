package dev.weir.core.test;

import dev.weir.adaptive.AdaptiveLimiter;
import dev.weir.adaptive.AdaptivePermit;
import dev.weir.adaptive.RequestOutcome;
import dev.weir.testkit.FakeTicker;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * A simulated backend behind an adaptive limiter: requests arrive at random (Poisson), some servers
 * work on one request each for the same time with a little noise, and the others wait in one queue
 * (M/D/c). Its capacity is the number of servers: with as many requests in flight it is fully used
 * and nothing waits.
 */
final class SimulatedBackend {
  private static final long SECOND = 1_000_000_000L;

  private record Call(AdaptivePermit permit, long dueNanos, long number)
      implements Comparable<Call> {
    @Override
    public int compareTo(Call other) {
      int byTime = Long.compare(dueNanos, other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  private final FakeTicker ticker;
  private final AdaptiveLimiter limiter;
  private final SplittableRandom random;
  private final PriorityQueue<Call> served = new PriorityQueue<>();
  private final Deque<AdaptivePermit> queue = new ArrayDeque<>();
  private long numbers;
  private long nextArrivalNanos;

  private int servers;
  long serviceNanos = 20_000_000;

  /** Requests in the queue beyond which the backend refuses others. */
  int longestQueue = Integer.MAX_VALUE;

  double arrivalsPerSecond;

  // Since the last call of run.
  int least;
  int most;
  long done;
  long arrived;
  private double limitNanos;
  private long sinceNanos;

  SimulatedBackend(FakeTicker ticker, AdaptiveLimiter limiter, SplittableRandom random) {
    this.ticker = ticker;
    this.limiter = limiter;
    this.random = random;
    this.nextArrivalNanos = ticker.nanos();
  }

  /** Sets the number of servers, and a demand of twice what they can serve. */
  void serve(int newServers) {
    servers = newServers;
    arrivalsPerSecond = 2.0 * servers * SECOND / serviceNanos;
  }

  /** Simulates a time, and counts from its beginning. */
  void run(int seconds) {
    sinceNanos = ticker.nanos();
    long untilNanos = sinceNanos + seconds * SECOND;
    least = limiter.limit();
    most = limiter.limit();
    done = 0;
    arrived = 0;
    limitNanos = 0;
    while (true) {
      long next = served.isEmpty() ? Long.MAX_VALUE : served.element().dueNanos();
      long at = Math.min(untilNanos, Math.min(next, nextArrivalNanos));
      limitNanos += (double) limiter.limit() * (at - ticker.nanos());
      ticker.set(at);
      if (at == untilNanos) {
        return;
      }
      if (at == next) {
        finish(served.remove());
      } else {
        arrive();
      }
      least = Math.min(least, limiter.limit());
      most = Math.max(most, limiter.limit());
    }
  }

  /** Returns the average limit over the time of the last run. */
  double averageLimit() {
    return limitNanos / (ticker.nanos() - sinceNanos);
  }

  /** Returns the part of the servers' time that was used, if they could serve all of it. */
  double utilization() {
    double seconds = (double) (ticker.nanos() - sinceNanos) / SECOND;
    return done / (seconds * servers * SECOND / serviceNanos);
  }

  private void finish(Call call) {
    done++;
    if (!call.permit().end(RequestOutcome.SUCCEEDED)) {
      throw new AssertionError("a permit has ended twice");
    }
    begin();
  }

  private void arrive() {
    arrived++;
    double gap = -Math.log(1 - random.nextDouble()) / arrivalsPerSecond;
    nextArrivalNanos = ticker.nanos() + Math.max(1, (long) (gap * SECOND));
    AdaptivePermit permit = limiter.tryAcquire();
    if (!permit.granted()) {
      return;
    }
    if (limiter.inFlight() > limiter.limit()) {
      throw new AssertionError("beyond the limit: " + limiter.explain());
    }
    if (queue.size() >= longestQueue) {
      boolean unused = permit.end(RequestOutcome.DROPPED);
      return;
    }
    queue.add(permit);
    begin();
  }

  /** Begins with requests of the queue, as long as servers are free. */
  private void begin() {
    while (served.size() < servers && !queue.isEmpty()) {
      double noise = 0.9 + 0.2 * random.nextDouble();
      served.add(
          new Call(queue.remove(), ticker.nanos() + (long) (serviceNanos * noise), numbers++));
    }
  }
}
