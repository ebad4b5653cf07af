package dev.weir.config.follow;

import dev.weir.config.internal.follow.LimitPool;
import dev.weir.engine.SubjectLimits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * A table of subjects' known limits by their fingerprints, in 16 bytes each. Read by any thread
 * without a lock; written by one thread at a time.
 */
final class SubjectTable {
  /*
   * How is SubjectTable designed, and why? A slot is two words: the subject's fingerprint, and
   *
   *   63..32  the second at which this was loaded, or found to be outdated
   *   31      whether it was read since the set was last full
   *   30..28  CURRENT or STALE; 0 in a slot without a subject
   *   23..0   the number of its limits among the interned ones
   *
   * Four slots are a set, 64 bytes; the lowest bits of the fingerprint choose it. A table begins
   * small and doubles when a set is full while half of the slots are taken: then each set becomes
   * two, so nothing has to leave. Once it is as large as it may be, the set gives up a stale slot
   * that was not read since, then a current one, then one that was read, and of equals the oldest.
   * When it gives up one that was read, all its slots count as not read.
   *
   * Readers and the writer: each set belongs to one of 1,024 sequences. A writer makes it odd,
   * writes, and makes it even again. A reader uses its result only if the sequence was even and the
   * same before and after. So it never joins one subject's fingerprint to another's limits. [Boehm,
   * Can seqlocks get along with programming language memory models?, 2012] The limits are also read
   * in between: a number is used for other limits only after all slots that had it were written, so
   * that the sequence shows it. After growth, a reader may still read the former array, in which no
   * slot is written any more: a slot that has changed since, in the new array, has changed the same
   * sequence, because the lowest bits choose that in every size.
   *
   * Readers write only the mark of having been read, by compare-and-set of the word they have read,
   * and at most once between two times that the set is full.
   *
   * Two subjects with the same fingerprint would both have the limits of one of them. Among n
   * subjects that happens with a chance of n^2/2^65: 1 in 37 million for a million, 1 in 37 for a
   * billion subjects in a table at one time, of which a table of 4 million slots holds few. The
   * seed is secret, so nobody can choose two such subjects.
   */
  static final int WAYS = 4;
  static final int STRIPES = 1_024;
  static final int SLOT_BYTES = 16;

  /** The smallest table: each sequence belongs to at least one set. */
  static final int MIN_SLOTS = STRIPES * WAYS;

  private static final int TRIES = 64;

  /** A second later than any other. */
  private static final int NEVER = Integer.MAX_VALUE;

  private static final long READ = 1L << 31;
  private static final int STATE_SHIFT = 28;
  private static final long CURRENT = 1L << STATE_SHIFT;
  private static final long STALE = 2L << STATE_SHIFT;

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  private final AtomicLongArray sequences = new AtomicLongArray(STRIPES);
  private final int maxSlots;
  private final LimitPool interned;
  private volatile long[] words = new long[2 * MIN_SLOTS];
  private int hand;
  private int taken;
  private int absent;
  private int stale;
  private long evicted;

  /**
   * Creates a table.
   *
   * @param maxSlots a power of two, at least {@link #MIN_SLOTS}
   * @param maxLimits different limits at a time
   */
  SubjectTable(int maxSlots, int maxLimits) {
    this.maxSlots = maxSlots;
    this.interned = new LimitPool(maxLimits);
  }

  private static int number(long state) {
    return (int) state & (LimitPool.MAX - 1);
  }

  private static int seconds(long state) {
    return (int) (state >> 32);
  }

  private static int stripe(long fingerprint) {
    return (int) fingerprint & (STRIPES - 1);
  }

  /** Returns the offset of the set's first slot. */
  private static int set(long[] words, long fingerprint) {
    return (int) fingerprint * (2 * WAYS) & (words.length - 1);
  }

  /** Returns the limits if they are known and not outdated, or else null. */
  @Nullable SubjectLimits current(long fingerprint) {
    return read(fingerprint, Integer.MIN_VALUE, NEVER);
  }

  /**
   * Returns the limits, outdated or not, or null.
   *
   * @param currentSince limits that are not outdated must have been loaded at this second or later
   * @param staleSince others must have been found to be outdated at this second or later
   */
  @Nullable SubjectLimits lastKnown(long fingerprint, int currentSince, int staleSince) {
    return read(fingerprint, currentSince, staleSince);
  }

  /** Returns the limits, if they are not outdated and were loaded at this second or later. */
  @Nullable SubjectLimits loaded(long fingerprint, int sinceSeconds) {
    return read(fingerprint, sinceSeconds, NEVER);
  }

  private @Nullable SubjectLimits read(long fingerprint, int currentSince, int staleSince) {
    int stripe = stripe(fingerprint);
    for (int tries = 0; tries < TRIES; tries++) {
      long sequence = sequences.getAcquire(stripe);
      if ((sequence & 1) == 0) {
        long[] from = words;
        int slot = slot(from, fingerprint);
        long state = slot < 0 ? 0 : (long) WORD.getOpaque(from, slot + 1);
        SubjectLimits limits = interned.at(number(state));
        VarHandle.acquireFence();
        if (sequences.getOpaque(stripe) == sequence) {
          int since = (state & CURRENT) != 0 ? currentSince : staleSince;
          if (state == 0 || since == NEVER || seconds(state) < since) {
            return null;
          }
          if ((state & READ) == 0) {
            boolean unused = WORD.compareAndSet(from, slot + 1, state, state | READ);
          }
          return limits;
        }
      }
      Thread.onSpinWait();
    }
    return null; // The writer has lost its processor: the limits count as unknown.
  }

  /** Returns the offset of the subject's slot, or -1. */
  private static int slot(long[] words, long fingerprint) {
    int set = set(words, fingerprint);
    for (int slot = set; slot < set + 2 * WAYS; slot += 2) {
      if ((long) WORD.getOpaque(words, slot) == fingerprint
          && (long) WORD.getOpaque(words, slot + 1) != 0) {
        return slot;
      }
    }
    return -1;
  }

  private static long state(long[] words, int slot) {
    return (long) WORD.getOpaque(words, slot + 1);
  }

  /** Stores a subject's limits; returns whether there was room for them. */
  boolean put(long fingerprint, SubjectLimits limits, int seconds, boolean outdated) {
    int number = interned.take(limits);
    if (number < 0 && shed()) {
      number = interned.take(limits);
    }
    int known = slot(words, fingerprint);
    if (number < 0) {
      if (known >= 0) {
        write(known, fingerprint, 0);
      }
      return false;
    }
    int slot = known >= 0 ? known : room(fingerprint);
    write(slot, fingerprint, (long) seconds << 32 | (outdated ? STALE : CURRENT) | number);
    return true;
  }

  /** Marks a subject's limits as outdated. */
  void outdate(long fingerprint, int seconds) {
    int slot = slot(words, fingerprint);
    if (slot >= 0) {
      outdateSlot(slot, seconds);
    }
  }

  private void outdateSlot(int slot, int seconds) {
    long state = state(words, slot);
    if ((state & CURRENT) != 0) {
      int number = number(state);
      int again = interned.take(again(number));
      write(slot, words[slot], (long) seconds << 32 | (state & READ) | STALE | again);
    }
  }

  private SubjectLimits again(int number) {
    SubjectLimits limits = interned.at(number);
    return limits == null ? SubjectLimits.NONE : limits; // A slot has it, so it is not null.
  }

  /** Marks all limits as outdated. */
  void outdateAll(int seconds) {
    for (int slot = 0; slot < words.length; slot += 2) {
      outdateSlot(slot, seconds);
    }
  }

  /** Removes all subjects. */
  void clear() {
    for (int slot = 0; slot < words.length; slot += 2) {
      if (state(words, slot) != 0) {
        write(slot, words[slot], 0);
      }
    }
  }

  /** Gives one slot another content, and updates all counts. */
  private void write(int slot, long fingerprint, long state) {
    long[] to = words;
    long before = state(to, slot);
    count(before, -1);
    count(state, 1);
    int stripe = slot / (2 * WAYS) & (STRIPES - 1);
    long sequence = sequences.getPlain(stripe);
    sequences.setOpaque(stripe, sequence + 1);
    VarHandle.storeStoreFence(); // No reader sees the following writes under the former sequence.
    WORD.setOpaque(to, slot, fingerprint);
    WORD.setOpaque(to, slot + 1, state);
    sequences.setRelease(stripe, sequence + 2);
    if (before != 0) {
      interned.release(number(before));
    }
  }

  private void count(long state, int by) {
    if (state != 0) {
      taken += by;
      if ((state & STALE) != 0) {
        stale += by;
      }
      if (number(state) == LimitPool.NONE) {
        absent += by;
      }
    }
  }

  /** Returns a slot without a subject. */
  private int room(long fingerprint) {
    while (true) {
      long[] now = words;
      int set = set(now, fingerprint);
      for (int slot = set; slot < set + 2 * WAYS; slot += 2) {
        if (state(now, slot) == 0) {
          return slot;
        }
      }
      int slots = now.length / 2;
      if (slots == maxSlots || taken < slots / 2) {
        return evict(set);
      }
      words = twice(now);
    }
  }

  private static long[] twice(long[] from) {
    long[] to = new long[2 * from.length];
    for (int slot = 0; slot < from.length; slot += 2) {
      long state = state(from, slot);
      if (state != 0) {
        int set = set(to, from[slot]);
        while (to[set + 1] != 0) {
          set += 2;
        }
        to[set] = from[slot];
        to[set + 1] = state;
      }
    }
    return to;
  }

  private int evict(int set) {
    int least = set;
    for (int slot = set + 2; slot < set + 2 * WAYS; slot += 2) {
      if (worth(state(words, slot)) < worth(state(words, least))) {
        least = slot;
      }
    }
    if ((state(words, least) & READ) != 0) {
      for (int slot = set; slot < set + 2 * WAYS; slot += 2) {
        unread(slot);
      }
    }
    write(least, words[least], 0);
    evicted++;
    return least;
  }

  private static long worth(long state) {
    long kind = ((state & READ) != 0 ? 2L : 0) + ((state & CURRENT) != 0 ? 1 : 0);
    return (kind << 32) + seconds(state) - (long) Integer.MIN_VALUE;
  }

  /** Removes the mark of having been read. A reader that sets it again in between wins. */
  private void unread(int slot) {
    long state = state(words, slot);
    boolean unused = WORD.compareAndSet(words, slot + 1, state, state & ~READ);
  }

  /**
   * Removes a subject whose limits no other subject has and which was not read lately; returns
   * whether there was one.
   */
  private boolean shed() {
    for (int tries = 0; tries < 2 * MIN_SLOTS; tries++) { // Two passes over the smallest table.
      hand = (hand + 2) & (words.length - 1);
      long state = state(words, hand);
      if (state != 0 && interned.single(number(state))) {
        if ((state & READ) == 0) {
          write(hand, words[hand], 0);
          evicted++;
          return true;
        }
        unread(hand);
      }
    }
    return false;
  }

  /** A visitor of subjects. */
  interface Visitor {
    /**
     * Visits one subject.
     *
     * @param current true if it was not found to be outdated
     * @param seconds the second at which it was loaded, or found to be outdated
     */
    void visit(long fingerprint, SubjectLimits limits, boolean current, int seconds);
  }

  /** Visits up to {@code most} subjects: those with limits of their own, then others. */
  void forEach(int most, Visitor visitor) {
    int left = visit(true, most, visitor);
    int unused = visit(false, left, visitor);
  }

  private int visit(boolean withRecord, int most, Visitor visitor) {
    int left = most;
    for (int slot = 0; slot < words.length && left > 0; slot += 2) {
      long state = state(words, slot);
      int number = number(state);
      if (state != 0 && (number != LimitPool.NONE) == withRecord) {
        boolean current = (state & CURRENT) != 0;
        visitor.visit(words[slot], again(number), current, seconds(state));
        left--;
      }
    }
    return left;
  }

  int known() {
    return taken - absent;
  }

  int absent() {
    return absent;
  }

  int stale() {
    return stale;
  }

  long evicted() {
    return evicted;
  }

  /** Returns the memory of the slots now, in bytes. */
  long bytes() {
    return 8L * words.length;
  }

  /** Returns the number of different limits. */
  int limits() {
    return interned.size();
  }
}
