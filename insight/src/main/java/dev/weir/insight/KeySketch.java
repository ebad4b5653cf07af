package dev.weir.insight;

import dev.weir.engine.DecidedDescriptor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A counter of keys that finds the most frequent ones, in fixed memory. Not safe for several
 * threads.
 */
final class KeySketch {
  /*
   * How is KeySketch designed, and why? It is Space-Saving (Metwally and others, 2005): a key
   * without a counter takes over the smallest one and goes on from its count. So a count is never
   * too low, and too high by at most the count that was taken over, which is kept with it.
   *
   * It must cost less than 20 ns, on threads that decide. So there is no heap: the counters are in
   * sets of eight, as in a processor's cache; a key's hash selects its set, and the smallest of the
   * eight is taken over. All eight numbers of a set lie in one line of the cache. The bounds above
   * hold for each set by itself: a key certainly has a counter if it has more than an eighth of its
   * set's counts, which is a share of about one in 512 of all.
   *
   * Several sketches are added up key by key. A sketch without a counter for a key has counted that
   * key at most as often as the smallest of its set, so that number is added to the count and to
   * the error. [Agarwal and others, Mergeable summaries, 2012]
   */
  static final int COUNTERS = 512;
  private static final int WAYS = 8;
  private static final int SETS = COUNTERS / WAYS;

  private final long[] ids;
  private final long[] counts;
  private final long[] tooHigh;
  private final @Nullable KeyName[] names;
  private final long mostNameBytes;

  /** The approximate bytes that the names take. */
  private long nameBytes;

  /**
   * @param mostNameBytes the bytes of names from which on a new key gets a brief name
   */
  KeySketch(long mostNameBytes) {
    this.mostNameBytes = mostNameBytes;
    ids = new long[COUNTERS];
    counts = new long[COUNTERS];
    tooHigh = new long[COUNTERS];
    names = new KeyName[COUNTERS];
  }

  private KeySketch(KeySketch of) {
    ids = of.ids.clone();
    counts = of.counts.clone();
    tooHigh = of.tooHigh.clone();
    names = of.names.clone();
    mostNameBytes = of.mostNameBytes;
    nameBytes = of.nameBytes;
  }

  /**
   * Counts a key.
   *
   * @param id a hash of the key with its limit, in which all bits are evenly mixed
   * @param times the number of times
   */
  void add(long id, long times, DecidedDescriptor decided) {
    int from = set(id);
    int least = from;
    for (int i = from; i < from + WAYS; i++) {
      if (ids[i] == id) {
        counts[i] += times;
        if (names[i] != null) {
          return;
        }
        least = i; // An empty counter has the id 0.
        break;
      }
      least = counts[i] < counts[least] ? i : least;
    }
    ids[least] = id;
    tooHigh[least] = counts[least];
    counts[least] += times;
    name(least, decided);
  }

  private void name(int i, DecidedDescriptor decided) {
    KeyName before = names[i];
    nameBytes -= before == null ? 0 : before.memoryBytes();
    KeyName name = KeyName.of(decided.descriptor(), decided.status());
    if (nameBytes + name.memoryBytes() > mostNameBytes) {
      name = KeyName.brief(decided.descriptor(), decided.status());
    }
    nameBytes += name.memoryBytes();
    names[i] = name;
  }

  /** Returns the approximate bytes that the names take. */
  long nameBytes() {
    return nameBytes;
  }

  private static int set(long id) {
    return (int) (id >>> 32 & SETS - 1) * WAYS;
  }

  /** Removes all keys. */
  void clear() {
    Arrays.fill(ids, 0);
    Arrays.fill(counts, 0);
    Arrays.fill(tooHigh, 0);
    Arrays.fill(names, null);
    nameBytes = 0;
  }

  KeySketch copy() {
    return new KeySketch(this);
  }

  /** Adds the keys that have a counter. */
  void names(Map<Long, KeyName> to) {
    for (int i = 0; i < COUNTERS; i++) {
      KeyName name = names[i];
      if (name != null) {
        to.putIfAbsent(ids[i], name);
      }
    }
  }

  /**
   * Returns the most times that a key was counted, and the amount by which that may be too high.
   */
  private long[] of(long id) {
    int from = set(id);
    long least = Long.MAX_VALUE;
    for (int i = from; i < from + WAYS; i++) {
      if (ids[i] == id && names[i] != null) {
        return new long[] {counts[i], tooHigh[i]};
      }
      least = Math.min(least, counts[i]);
    }
    return new long[] {least, least};
  }

  /** Returns the sums of several sketches, by the keys' hashes: the count, and its error. */
  static Map<Long, long[]> sums(Iterable<KeySketch> sketches, Map<Long, KeyName> names) {
    for (KeySketch sketch : sketches) {
      sketch.names(names);
    }
    Map<Long, long[]> sums = new HashMap<>();
    for (long id : names.keySet()) {
      long[] sum = new long[2];
      for (KeySketch sketch : sketches) {
        Span.add(sum, sketch.of(id));
      }
      sums.put(id, sum);
    }
    return sums;
  }
}
