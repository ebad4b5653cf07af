package dev.weir.replay;

import dev.weir.Fingerprint;
import dev.weir.Ticker;
import dev.weir.replay.internal.recorded.TrafficSegment;
import dev.weir.replay.internal.recorded.TrafficStripe;
import dev.weir.rules.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests of the last hour, in memory only, for dry runs. Bounded in bytes: if more comes than
 * fits, only some keys are recorded, and of these all requests. Safe for use by many threads.
 *
 * <p>Here, the key of a request is its domain and first descriptor. A seeded hash decides which
 * keys are recorded; the choice therefore does not depend on a key's requests, and clients cannot
 * influence it.
 */
public final class RecordedTraffic {
  /*
   * How is RecordedTraffic designed, and why? A recorded key must be there with all its requests: a
   * limit over half of a key's requests would refuse far fewer than half. So if there is no room,
   * whole keys are left out, not requests.
   *
   * Every key belongs to a class by the leading zeros of its hash: half of the keys to class 0, a
   * quarter to class 1, and so on. Each class has segments of its own, and only the classes from
   * the level on are recorded. When the bytes are used up, the level rises by one, and the class
   * below it is dropped at once: nothing has to be searched or copied, and half of the bytes are
   * free. When few bytes are used, the level falls by one. A span is always read at the highest
   * level that was in force during it, so that all of its keys are whole. At the last level the
   * oldest segments are dropped instead.
   *
   * Threads record into stripes, chosen by the thread's number, each with a lock of its own. The
   * lock of this object is taken only to make room, which takes stripes' locks one at a time; a
   * stripe never takes it.
   */

  /** The time after which a recorded request is dropped: an hour. */
  public static final long SPAN_NANOS = 3_600_000_000_000L;

  /** The smallest bound that is of use: 1 MiB. */
  public static final long MIN_BYTES = 1 << 20;

  /** The default bound, enough for some five million requests: 64 MiB. */
  public static final long DEFAULT_BYTES = 64 << 20;

  /** The longest time that a text is kept after its hour: until its segment is dropped. */
  private static final long CLOSE_NANOS = 300_000_000_000L;

  /** The shortest time for which a level holds before a lower one is tried. */
  private static final long LEVEL_NANOS = 300_000_000_000L;

  private static final int MIN_SEGMENT = 4 << 10;
  private static final int MAX_SEGMENT = 64 << 10;
  private static final int MAX_STRIPES = 64;

  /** A level and the instant from which on it holds: the classes from it on are recorded. */
  private record Since(long nanos, int level) {}

  private final Ticker ticker;
  private final long maxBytes;
  private final AtomicLong used = new AtomicLong();
  private final TrafficStripe[] stripes;

  /** The bytes that the stripes use without any segment. */
  private final long emptyBytes;

  /** The levels of the last hour and the one before, the newest first. */
  private final Deque<Since> levels = new ArrayDeque<>();

  private final long beganNanos;

  /** The instant before which the recording is incomplete. */
  private long forgottenNanos;

  private volatile int level;

  public RecordedTraffic(Ticker ticker) {
    this(ticker, DEFAULT_BYTES);
  }

  /**
   * @param maxBytes the most bytes that are kept, at least {@link #MIN_BYTES}
   * @throws IllegalArgumentException if that is too low
   */
  public RecordedTraffic(Ticker ticker, long maxBytes) {
    this(ticker, maxBytes, Fingerprint.random());
  }

  RecordedTraffic(Ticker ticker, long maxBytes, Fingerprint fingerprint) {
    if (maxBytes < MIN_BYTES) {
      throw new IllegalArgumentException(
          "maxBytes: " + maxBytes + " (expected: at least " + MIN_BYTES + ")");
    }
    this.ticker = ticker;
    this.maxBytes = maxBytes;
    beganNanos = ticker.nanos();
    forgottenNanos = beganNanos;
    levels.add(new Since(beganNanos, 0));
    int most = (int) Math.min(MAX_STRIPES, maxBytes / (MIN_BYTES / 4));
    int count = 4;
    while (count < 2 * Runtime.getRuntime().availableProcessors() && 2 * count <= most) {
      count *= 2;
    }
    int segment = MIN_SEGMENT;
    while (2L * segment <= Math.min(MAX_SEGMENT, maxBytes / 2048)) {
      segment *= 2;
    }
    stripes = new TrafficStripe[count];
    for (int i = 0; i < count; i++) {
      stripes[i] = new TrafficStripe(fingerprint, used, maxBytes, segment);
    }
    emptyBytes = (long) count * TrafficStripe.bytesOf();
    used.addAndGet(emptyBytes);
  }

  /** Records a request that comes now. */
  public void add(Request request) {
    add(request, ticker.nanos());
  }

  /**
   * Records a request.
   *
   * @param nowNanos the time, on the ticker's scale; if the thread has recorded a later time, that
   *     one counts
   */
  public void add(Request request, long nowNanos) {
    TrafficStripe stripe = stripes[(int) Thread.currentThread().getId() & (stripes.length - 1)];
    while (stripe.add(request, nowNanos, this::level) == TrafficStripe.Outcome.NO_ROOM) {
      if (!makeRoom()) {
        stripe.lost(nowNanos);
        return;
      }
    }
  }

  private int level() {
    return level;
  }

  /** Frees some bytes; false if there is nothing to drop. */
  private synchronized boolean makeRoom() {
    long now = ticker.nanos();
    if (used.get() < maxBytes - maxBytes / 8) {
      return true; // Another thread has made room.
    }
    long before = used.get();
    forgetBefore(now - SPAN_NANOS);
    while (used.get() >= before && level < TrafficStripe.CLASSES - 1) {
      raise(now);
    }
    if (used.get() < before) {
      return true;
    }
    long oldest = Long.MAX_VALUE;
    for (TrafficStripe stripe : stripes) {
      oldest = Math.min(oldest, stripe.oldestNanos());
    }
    if (oldest == Long.MAX_VALUE) {
      return false;
    }
    forgottenNanos = Math.max(forgottenNanos, oldest + 1);
    forgetBefore(oldest + 1);
    return used.get() < before;
  }

  private void raise(long now) {
    int next = level + 1;
    level = next;
    levels.addFirst(new Since(now, next));
    for (TrafficStripe stripe : stripes) {
      stripe.forgetBelow(level);
    }
  }

  private void forgetBefore(long nanos) {
    for (TrafficStripe stripe : stripes) {
      stripe.forgetBefore(nanos, nanos);
    }
  }

  /** Drops requests that are older than an hour; to be called every second or so. */
  public synchronized void expire() {
    long now = ticker.nanos();
    for (TrafficStripe stripe : stripes) {
      stripe.forgetBefore(now - SPAN_NANOS, now - CLOSE_NANOS);
    }
    Since newest = levels.getFirst();
    if (level > 0 && used.get() < maxBytes / 4 && now - newest.nanos >= LEVEL_NANOS) {
      int next = level - 1;
      level = next;
      // Other threads may see the lower level a little later.
      levels.addFirst(new Since(now + 1_000_000_000L, next));
    }
    long from = now - SPAN_NANOS;
    while (levels.size() > 1 && reaches(from)) {
      levels.removeLast();
    }
  }

  /** Returns whether the second oldest level begins before an instant. */
  private boolean reaches(long from) {
    Since oldest = levels.removeLast();
    boolean reaches = levels.getLast().nanos <= from;
    levels.addLast(oldest);
    return reaches;
  }

  /** Returns the bytes that are in use. */
  public long bytes() {
    return used.get();
  }

  /** Returns the most bytes that may be in use. */
  public long maxBytes() {
    return maxBytes;
  }

  /**
   * Returns the number of keys that each recorded key stands for at this time: 1 if all are
   * recorded.
   */
  public long keysPerRecorded() {
    return 1L << level;
  }

  /**
   * Returns the requests recorded so far: later recording and dropping does not change the result.
   * It has no requests from more than an hour ago or from before the recording began.
   *
   * @param spanNanos the length of the span back from now, at least 10 s; it begins at a multiple
   *     of 10 s
   * @param mostRequests the most requests: if there are more, fewer keys are in it, unless none
   *     would be left
   */
  public synchronized RecordedRequests requests(long spanNanos, long mostRequests) {
    long now = ticker.nanos();
    long slice = TrafficStripe.SLICE_NANOS;
    long earliest = Math.max(now - Math.min(spanNanos, SPAN_NANOS), forgottenNanos);
    long from = earliest == beganNanos ? beganNanos : -Math.floorDiv(-earliest, slice) * slice;
    int least = level;
    for (Since since : levels) {
      least = Math.max(least, since.level);
      if (since.nanos <= from) {
        break;
      }
    }
    List<List<List<TrafficSegment>>> classes = new ArrayList<>();
    long[] counts = new long[TrafficStripe.CLASSES];
    for (int i = 0; i < TrafficStripe.CLASSES; i++) {
      List<List<TrafficSegment>> chains = new ArrayList<>();
      for (TrafficStripe stripe : stripes) {
        List<TrafficSegment> chain = i < least ? List.of() : stripe.since(from, i);
        if (!chain.isEmpty()) {
          chains.add(chain);
          counts[i] += chain.stream().mapToLong(TrafficSegment::requests).sum();
        }
      }
      classes.add(chains);
    }
    int taken = level(counts, least, mostRequests);
    List<List<TrafficSegment>> chains = new ArrayList<>();
    classes.subList(taken, classes.size()).forEach(chains::addAll);
    long came = 0;
    for (TrafficStripe stripe : stripes) {
      came += stripe.came(Math.floorDiv(from, slice), Math.floorDiv(now, slice) + 1);
    }
    return new RecordedRequests(from, now, 1L << taken, came, chains);
  }

  /**
   * Returns the lowest level with some requests and at most so many; without such a level, the
   * least.
   */
  private static int level(long[] counts, int least, long mostRequests) {
    long rest = 0;
    for (long count : counts) {
      rest += count;
    }
    for (int i = least; i < counts.length && rest > 0; i++) {
      if (rest <= mostRequests) {
        return i;
      }
      rest -= counts[i];
    }
    return least;
  }
}
