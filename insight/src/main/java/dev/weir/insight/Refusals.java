package dev.weir.insight;

import dev.weir.Decision;
import dev.weir.Ticker;
import dev.weir.engine.CurrentLimit;
import dev.weir.engine.DecidedDescriptor;
import dev.weir.engine.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The last refusals, at most {@link #KEPT} of them and {@link #PER_SECOND} of a second. Where more
 * come, one in 2, 4, 8 and so on is kept, by how many there were in the second before. Safe for use
 * by many threads.
 */
public final class Refusals {
  /** Refusals that are kept: a few megabytes. */
  public static final int KEPT = 10_000;

  /** Refusals of one second that are kept. */
  public static final int PER_SECOND = 100;

  private static final int MAX_ONE_IN = 1 << 30;

  private final Ticker wall;
  private final LongSupplier revision;
  private final Turns turns = new Turns();
  private final LongAdder came = new LongAdder();
  private final AtomicInteger room = new AtomicInteger(PER_SECOND);
  private final @Nullable Refusal[] ring = new Refusal[KEPT];
  private volatile int oneIn = 1;
  private long cameBefore;
  private long kept;

  /**
   * @param revision says which rules of the configuration store are in force
   */
  public Refusals(Ticker wall, LongSupplier revision) {
    this.wall = wall;
    this.revision = revision;
  }

  void refused(DecidedDescriptor decided) {
    came.increment();
    int picked = oneIn;
    if ((picked > 1 && (turns.next() & picked - 1) != 0) || room.get() <= 0) {
      return; // The usual case of a flood.
    }
    Status status = decided.status();
    CurrentLimit limit = status.currentLimit();
    Decision decision = status.decision();
    if (limit != null && decision != null && room.getAndDecrement() > 0) {
      keep(KeyName.of(decided.descriptor(), status), limit, decision, picked);
    }
  }

  private synchronized void keep(
      KeyName key, CurrentLimit limit, Decision decision, int standsFor) {
    ring[(int) (kept % KEPT)] =
        new Refusal(
            ++kept,
            Math.floorDiv(wall.nanos(), 1_000_000L),
            key,
            revision.getAsLong(),
            limit.origin(),
            limit.policy().quota().permits(),
            limit.policy().quota().windowNanos(),
            decision.reason(),
            decision.retryAfterNanos(),
            standsFor);
  }

  /** Makes room for those of the next second; to be called every second. */
  synchronized void tick() {
    long now = came.sum();
    long last = now - cameBefore;
    cameBefore = now;
    int next = 1;
    while ((long) next * PER_SECOND < last && next < MAX_ONE_IN) {
      next *= 2;
    }
    oneIn = next;
    room.set(PER_SECOND);
  }

  /** Returns how many refusals there were since the server began. */
  public long came() {
    return came.sum();
  }

  /** Returns those that are kept and have a higher number, the newest first. */
  public synchronized List<Refusal> after(long number) {
    List<Refusal> found = new ArrayList<>();
    for (long i = kept; i > Math.max(number, kept - KEPT) && i > 0; i--) {
      Refusal refusal = ring[(int) ((i - 1) % KEPT)];
      if (refusal != null) {
        found.add(refusal);
      }
    }
    return found;
  }

  /** Returns the number of the newest that is kept, 0 if there is none. */
  public synchronized long newest() {
    return kept;
  }
}
