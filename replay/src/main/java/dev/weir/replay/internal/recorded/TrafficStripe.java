package dev.weir.replay.internal.recorded;

import dev.weir.Fingerprint;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A stripe of recorded traffic: the requests of a few threads. It has its own lock, so threads of
 * other stripes do not wait for it.
 */
public final class TrafficStripe {
  /** The number of classes of keys; each has half as many keys as the one before. */
  public static final int CLASSES = 16;

  /** The length of a slice, for each of which the arrived requests are counted. */
  public static final long SLICE_NANOS = 10_000_000_000L;

  /** The number of slices: more than an hour has. */
  private static final int SLICES = 512;

  private static final int FIRST_BYTES = 1 << 10;

  /**
   * The number of remembered names of domains and keys, whose fingerprints need not be computed
   * each time.
   */
  private static final int NAMES = 32;

  private static final int MAX_NAME = 64;

  private static final long MULTIPLIER = 0x9e3779b97f4a7c15L;

  /** The outcome of recording a request. */
  public enum Outcome {
    DONE,
    /** The bytes left are fewer than the request needs. */
    NO_ROOM
  }

  private final Fingerprint fingerprint;
  private final AtomicLong used;
  private final long maxBytes;
  private final int segmentBytes;
  private final @Nullable TrafficSegment[] open = new TrafficSegment[CLASSES];
  private final List<Deque<TrafficSegment>> closed = new ArrayList<>();
  private final long[] lastNanos = new long[CLASSES];
  private final long[] slices = new long[SLICES];
  private final long[] came = new long[SLICES];
  private final @Nullable String[] names = new String[NAMES];
  private final long[] nameMarks = new long[NAMES];
  private long[] marks = new long[64];

  public TrafficStripe(Fingerprint fingerprint, AtomicLong used, long maxBytes, int segmentBytes) {
    this.fingerprint = fingerprint;
    this.used = used;
    this.maxBytes = maxBytes;
    this.segmentBytes = segmentBytes;
    Arrays.fill(lastNanos, Long.MIN_VALUE);
    for (int i = 0; i < CLASSES; i++) {
      closed.add(new ArrayDeque<>());
    }
  }

  /** Returns the bytes that a stripe takes beside its segments. */
  public static int bytesOf() {
    return 2 * SLICES * Long.BYTES + NAMES * (2 * Long.BYTES + 2 * MAX_NAME + 48) + CLASSES * 192;
  }

  /**
   * Records a request, unless keys of its class are not recorded.
   *
   * @param level the least class that is recorded
   */
  public synchronized Outcome add(Request request, long nanos, IntSupplier level) {
    long need = TrafficSegment.need(request);
    if (request.descriptors().isEmpty()) {
      return Outcome.DONE;
    }
    if (need > segmentBytes / 2) {
      count(nanos);
      return Outcome.DONE; // A request of this size would displace a thousand others.
    }
    int texts = 1;
    List<Descriptor> descriptors = request.descriptors();
    long key = name(request.domain(), 0);
    for (int i = 0; i < descriptors.size(); i++) {
      List<Entry> entries = descriptors.get(i).entries();
      for (int j = 0; j < entries.size(); j++) {
        Entry entry = entries.get(j);
        long first = name(entry.key(), texts);
        long second = mark(fingerprint.of(entry.value()), texts + 1);
        texts += 2;
        if (i == 0) {
          key = (key ^ first) * MULTIPLIER;
          key = ((key ^ key >>> 32) ^ second) * MULTIPLIER;
          key ^= key >>> 32;
        }
      }
    }
    int keyClass = Math.min(Long.numberOfLeadingZeros(key * MULTIPLIER), CLASSES - 1);
    if (keyClass >= level.getAsInt()) {
      TrafficSegment segment = room(keyClass, (int) need, texts);
      if (segment == null) {
        return Outcome.NO_ROOM;
      }
      // Threads of one stripe may come here in another order than they read the clock.
      lastNanos[keyClass] = Math.max(lastNanos[keyClass], nanos);
      segment.add(lastNanos[keyClass], request, marks);
    }
    count(nanos);
    return Outcome.DONE;
  }

  /** Counts a request that is not recorded because there is no room for it. */
  public synchronized void lost(long nanos) {
    count(nanos);
  }

  private long name(String name, int index) {
    int length = name.length();
    if (length == 0 || length > MAX_NAME) {
      return mark(fingerprint.of(name), index);
    }
    int slot = (31 * length + name.charAt(0) + name.charAt(length - 1)) & (NAMES - 1);
    if (!name.equals(names[slot])) {
      names[slot] = name;
      nameMarks[slot] = fingerprint.of(name);
    }
    return mark(nameMarks[slot], index);
  }

  private long mark(long mark, int index) {
    if (index >= marks.length) {
      marks = Arrays.copyOf(marks, 2 * marks.length);
    }
    long known = mark == 0 ? 1 : mark;
    marks[index] = known;
    return known;
  }

  /** Returns the class's open segment with room for a request, or null if there are no bytes. */
  private @Nullable TrafficSegment room(int keyClass, int need, int texts) {
    TrafficSegment segment = open[keyClass];
    if (segment != null && segment.free() < need && !enlarge(segment, need)) {
      if (segment.capacity() < segmentBytes) {
        return null;
      }
      close(keyClass);
      segment = null;
    }
    if (segment == null) {
      int bytes = FIRST_BYTES;
      while (bytes < need) {
        bytes *= 2;
      }
      if (!reserve(TrafficSegment.bytesOf(bytes))) {
        return null;
      }
      segment = new TrafficSegment(bytes);
      open[keyClass] = segment;
    }
    if (segment.tableIsFull(texts)) {
      if (!reserve(segment.tableGrowth(texts))) {
        return null;
      }
      segment.growTable(texts);
    }
    return segment;
  }

  private boolean enlarge(TrafficSegment segment, int need) {
    int bytes = segment.capacity();
    while (bytes - segment.capacity() + segment.free() < need) {
      bytes *= 2;
    }
    if (bytes > segmentBytes || !reserve(bytes - segment.capacity())) {
      return false;
    }
    segment.grow(bytes);
    return true;
  }

  private boolean reserve(int bytes) {
    long before = used.get();
    while (before + bytes <= maxBytes) {
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = used.get();
    }
    return false;
  }

  private void close(int keyClass) {
    TrafficSegment segment = open[keyClass];
    if (segment != null) {
      int before = segment.bytes();
      segment.close();
      used.addAndGet(segment.bytes() - before);
      closed.get(keyClass).add(segment);
      open[keyClass] = null;
    }
  }

  /** Drops all requests of the classes below one. */
  public synchronized void forgetBelow(int level) {
    for (int i = 0; i < level; i++) {
      close(i);
      for (TrafficSegment each : closed.get(i)) {
        used.addAndGet(-each.bytes());
      }
      closed.get(i).clear();
    }
  }

  /**
   * Drops the segments that end before an instant, and ends those that begin before another one, so
   * that these are not kept much longer.
   */
  public synchronized void forgetBefore(long nanos, long closeNanos) {
    for (int i = 0; i < CLASSES; i++) {
      TrafficSegment segment = open[i];
      if (segment != null && segment.firstNanos() < closeNanos) {
        close(i);
      }
      Iterator<TrafficSegment> all = closed.get(i).iterator();
      while (all.hasNext()) {
        TrafficSegment each = all.next();
        if (each.lastNanos() >= nanos) {
          break;
        }
        used.addAndGet(-each.bytes());
        all.remove();
      }
    }
  }

  /**
   * Returns the end of the oldest segment that is closed; {@link Long#MAX_VALUE} if there is none.
   */
  public synchronized long oldestNanos() {
    long oldest = Long.MAX_VALUE;
    for (Deque<TrafficSegment> each : closed) {
      TrafficSegment first = each.peekFirst();
      oldest = first == null ? oldest : Math.min(oldest, first.lastNanos());
    }
    return oldest;
  }

  /** Returns the segments of a class that end at an instant or later; none is open then. */
  public synchronized List<TrafficSegment> since(long nanos, int keyClass) {
    close(keyClass);
    return closed.get(keyClass).stream().filter(each -> each.lastNanos() >= nanos).toList();
  }

  private void count(long nanos) {
    long slice = Math.floorDiv(nanos, SLICE_NANOS);
    int at = (int) slice & (SLICES - 1);
    if (slices[at] != slice) {
      if (slices[at] > slice) {
        return; // The slice in its place is later by more than an hour.
      }
      slices[at] = slice;
      came[at] = 0;
    }
    came[at]++;
  }

  /** Returns the number of requests that came from one slice on and before another one. */
  public synchronized long came(long fromSlice, long toSlice) {
    long sum = 0;
    for (long slice = Math.max(fromSlice, toSlice - SLICES); slice < toSlice; slice++) {
      int at = (int) slice & (SLICES - 1);
      sum += slices[at] == slice ? came[at] : 0;
    }
    return sum;
  }
}
