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
 * The last refusals: at most {@link #KEPT} of them, as many as {@link #MOST_BYTES} have room for,
 * and {@link #PER_SECOND} of a second. If more come, one in 2, 4, 8 and so on is kept, depending on
 * their number in the second before. Safe for use by many threads.
 */
public final class Refusals {
  /** The number of refusals that are kept: a few megabytes. */
  public static final int KEPT = 10_000;

  /**
   * The most bytes of all refusals: twice what {@link #KEPT} refusals of keys of usual length take.
   */
  static final long MOST_BYTES = 8 << 20;

  /** The approximate bytes of a refusal beside the name of its key. */
  private static final long REFUSAL_BYTES = 100;

  /** The most refusals of one second that are kept. */
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
   * The number of the oldest refusal that is kept; {@code bytes} is the approximate size of all.
   */
  private long oldest = 1;

  private long bytes;

  /**
   * @param revision the revision of the configuration store's rules in force
   */
  public Refusals(Ticker wall, LongSupplier revision) {
    this.wall = wall;
    this.revision = revision;
  }

  void refused(DecidedDescriptor decided) {
    came.increment();
    int picked = oneIn;
    if ((picked > 1 && (turns.next() & picked - 1) != 0) || room.get() <= 0) {
      return; // This is the usual case in a flood.
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
    bytes += bytes(key);
    while (kept - oldest + 1 == KEPT || (bytes > MOST_BYTES && oldest <= kept)) {
      drop();
    }
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
            decision.cause(),
            decision.retryAfterNanos(),
            standsFor);
  }

  private static long bytes(KeyName key) {
    return REFUSAL_BYTES + key.memoryBytes();
  }

  private void drop() {
    int slot = (int) ((oldest - 1) % KEPT);
    Refusal dropped = ring[slot];
    bytes -= dropped == null ? 0 : bytes(dropped.key());
    ring[slot] = null;
    oldest++;
  }

  /** Returns the approximate bytes of the refusals that are kept. */
  synchronized long bytes() {
    return bytes;
  }

  /** Makes room for the refusals of the next second; to be called every second. */
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

  /** Returns the number of refusals since the server began. */
  public long came() {
    return came.sum();
  }

  /** Returns the kept refusals with a higher number, the newest first. */
  public synchronized List<Refusal> after(long number) {
    List<Refusal> found = new ArrayList<>();
    for (long i = kept; i > number && i >= oldest; i--) {
      Refusal refusal = ring[(int) ((i - 1) % KEPT)];
      if (refusal != null) {
        found.add(refusal);
      }
    }
    return found;
  }

  /** Returns the number of the newest refusal that is kept, 0 if there is none. */
  public synchronized long newest() {
    return kept;
  }
}
