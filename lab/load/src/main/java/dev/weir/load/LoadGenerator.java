package dev.weir.load;

import dev.weir.Ticker;
import dev.weir.internal.DaemonThreads;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * A generator that puts load on a server and measures it. For one run.
 *
 * <p>Each connection is a lane on one of a few loops, and never leaves it. Requests that are due at
 * fixed times are sent in one of two ways. One more thread, the pacer, wakes free slots. Or the
 * loops poll: requests that are due together go out in one write, and the loops take a part of a
 * processor or all of it, according to the plan.
 */
public final class LoadGenerator {
  /** The number of connections that are opened at once: fewer than a server's accept backlog. */
  private static final int OPENING = 128;

  private static final long OPEN_SECONDS = 15;

  /** The longest wait for late answers: until the last of them is a timeout. */
  private static final long DRAIN_NANOS = Lane.TIMEOUT_NANOS + 2 * Lane.SWEEP_NANOS;

  /** The longest wait for late answers after the load was stopped early. */
  private static final long HURRIED_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long DRAIN_LOOK_MILLIS = 2;

  /**
   * The time for which the pacer sleeps while every slot is busy; an answer does not wait for it.
   */
  private static final long ALL_BUSY_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final LoadPlan plan;
  private final Ticker ticker;
  private final Schedule schedule;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final List<Lane> lanes = new ArrayList<>();
  private final List<LoopTally> tallies = new ArrayList<>();
  private final List<LaneRing> rings = new ArrayList<>();
  private final AdmissionGap gap = new AdmissionGap();
  private final AtomicLong keysInTurn = new AtomicLong();
  private final Histogram latency = new Histogram(1, LoopTally.HIGHEST_NANOS, LoopTally.DIGITS);
  private final List<LoadResult.Part> parts = new ArrayList<>();
  private long failedBefore;
  private volatile boolean over;

  public LoadGenerator(LoadPlan plan, Ticker ticker) {
    this.plan = plan;
    this.ticker = ticker;
    this.schedule = plan.timing().schedule();
  }

  /** Ends the load early; {@link #run} then returns the measurements so far. For any thread. */
  public void stop() {
    stopped.countDown();
  }

  /**
   * Runs the load.
   *
   * @throws IOException if not all connections can be opened
   */
  public LoadResult run(LoadProgress progress) throws IOException, InterruptedException {
    LoadPlan.Connections connections = plan.connections();
    int loops = Math.min(connections.count(), connections.loops().most());
    try (SocketTransport transport = SocketTransport.create(plan, loops)) {
      open(transport, loops);
      return measure(progress);
    }
  }

  private void open(SocketTransport transport, int loops) throws IOException, InterruptedException {
    for (int i = 0; i < loops; i++) {
      tallies.add(new LoopTally(schedule, gap));
      rings.add(new LaneRing(transport.loop(i), schedule, tallies.get(i)));
    }
    List<CompletableFuture<Void>> opening = new ArrayList<>();
    for (int i = 0; i < plan.connections().count(); i++) {
      int loop = i % loops;
      Lane lane =
          new Lane(
              transport.loop(loop),
              schedule,
              tallies.get(loop),
              plan.requests().keys().keyDraw(i, keysInTurn),
              ticker,
              plan.connections().inFlight());
      lanes.add(lane);
      rings.get(loop).add(lane);
      opening.add(transport.open(loop, lane, plan.target(i)));
      if (opening.size() == OPENING) {
        await(opening);
      }
    }
    await(opening);
  }

  private static void await(List<CompletableFuture<Void>> opening)
      throws IOException, InterruptedException {
    try {
      CompletableFuture.allOf(opening.toArray(CompletableFuture<?>[]::new))
          .get(OPEN_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new IOException(IoCauses.of(cause), cause);
    } catch (TimeoutException e) {
      throw new IOException("not connected within " + OPEN_SECONDS + " s", e);
    }
    opening.clear();
  }

  private LoadResult measure(LoadProgress progress) throws InterruptedException {
    Instant started = Instant.ofEpochSecond(0, ticker.nanos());
    schedule.begin(ticker.nanos());
    gap.begin(schedule.span().measuredNanos());
    for (Lane lane : lanes) {
      lane.loop().execute(lane::fill);
      lane.loop().later(Lane.SWEEP_NANOS, () -> sweep(lane));
    }
    Thread pacer = DaemonThreads.create("weir-pacer", this::pace);
    if (plan.connections().loops().poll()) {
      rings.forEach(ring -> ring.loop().execute(() -> poll(ring)));
    } else if (schedule instanceof OpenSchedule) {
      pacer.start();
    }
    long from = schedule.span().measuredNanos();
    boolean early = watch(progress);
    schedule.end(ticker.nanos());
    LockSupport.unpark(pacer);
    pacer.join();
    drain(early ? HURRIED_DRAIN_NANOS : DRAIN_NANOS);
    over = true;
    long end = Math.max(ticker.nanos(), from);
    sample(end);
    LoopTally.Counts counts = counts();
    return new LoadResult(
        started,
        end - from,
        early,
        counts,
        schedule.unclaimed() + counts.started() - counts.answered() - counts.failed(),
        latency,
        gap.longestNanos(Math.max(schedule.span().endNanos(), from)),
        parts);
  }

  private void sweep(Lane lane) {
    lane.sweep();
    lane.loop().later(Lane.SWEEP_NANOS, () -> sweep(lane));
  }

  /**
   * Sends due requests on a loop, again and again. Between two calls the loop reads the answers
   * that have arrived: a task that is scheduled without a delay runs after that.
   */
  private void poll(LaneRing ring) {
    long rest = plan.connections().loops().restNanos();
    if (rest > 0) {
      LockSupport.parkNanos(rest);
    }
    ring.send(ticker.nanos());
    if (!over) {
      ring.loop().later(0, () -> poll(ring));
    }
  }

  /** Reports each part until the time is over; returns whether the load was stopped early. */
  private boolean watch(LoadProgress progress) throws InterruptedException {
    Schedule.Span span = schedule.span();
    long look = span.startNanos();
    LoadResult.Part latest = LoadResult.Part.NONE;
    while (true) {
      long now = ticker.nanos();
      if (now >= span.endNanos()) {
        return false;
      }
      long boundary = now < span.measuredNanos() ? span.measuredNanos() : span.endNanos();
      look = Math.min(Math.max(look, now) + plan.timing().partNanos(), boundary);
      if (stopped.await(look - now, TimeUnit.NANOSECONDS)) {
        return true;
      }
      now = ticker.nanos();
      if (look > span.measuredNanos() && now < span.endNanos()) {
        latest = sample(now);
      }
      progress.at(now - span.startNanos(), span.endNanos() - span.startNanos(), latest);
    }
  }

  /** Collects the measurements since the last call. */
  private LoadResult.Part sample(long nowNanos) {
    Histogram interval = new Histogram(1, LoopTally.HIGHEST_NANOS, LoopTally.DIGITS);
    Histogram late = new Histogram(1, LoopTally.HIGHEST_NANOS, LoopTally.LATE_DIGITS);
    tallies.forEach(tally -> tally.drainInto(interval, late));
    latency.add(interval);
    long at = nowNanos - schedule.span().measuredNanos();
    long before = parts.isEmpty() ? 0 : parts.get(parts.size() - 1).endNanos();
    long failed = counts().failed();
    LoadResult.Part part =
        new LoadResult.Part(
            at,
            at - before,
            interval.getTotalCount(),
            failed - failedBefore,
            interval.getValueAtPercentile(50),
            interval.getValueAtPercentile(99),
            interval.getValueAtPercentile(99.9),
            interval.getMaxValue(),
            late.getValueAtPercentile(99));
    failedBefore = failed;
    if (part.lengthNanos() > 0) {
      parts.add(part);
    }
    return part;
  }

  private LoopTally.Counts counts() {
    return tallies.stream()
        .map(LoopTally::counts)
        .reduce(LoopTally.Counts.NONE, LoopTally.Counts::plus);
  }

  /** Waits for outstanding answers, at most for the given time. */
  private void drain(long nanos) throws InterruptedException {
    long until = ticker.nanos() + nanos;
    while (busy() && ticker.nanos() < until) {
      Thread.sleep(DRAIN_LOOK_MILLIS);
    }
  }

  private boolean busy() {
    for (Lane lane : lanes) {
      if (lane.busy() > 0) {
        return true;
      }
    }
    return false;
  }

  /** Wakes a free slot for every request that is due, around all lanes. */
  private void pace() {
    OpenSchedule open = (OpenSchedule) schedule;
    int turn = 0;
    while (true) {
      long now = ticker.nanos();
      long next = open.nextNanos(now);
      long end = open.span().endNanos();
      if (next >= end || now >= end + OpenSchedule.GRACE_NANOS) {
        return;
      }
      if (next > now) {
        LockSupport.parkNanos(next - now);
        continue;
      }
      int tried = 0;
      while (tried < lanes.size() && !lanes.get(turn).offer(now)) {
        turn = (turn + 1) % lanes.size();
        tried++;
      }
      if (tried == lanes.size()) {
        LockSupport.parkNanos(ALL_BUSY_NANOS);
      }
      turn = (turn + 1) % lanes.size();
    }
  }
}
