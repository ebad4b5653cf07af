package dev.weir.replay.internal.judge;

import dev.weir.Binding;
import dev.weir.Fingerprint;
import dev.weir.MemoryStore;
import dev.weir.PackedDecision;
import dev.weir.Policy;
import dev.weir.replay.Compare;
import dev.weir.traffic.TrafficException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The decisions of several policies about each record of a trace, one policy after the other. */
public final class Verdicts {
  /**
   * The number of decisions between two readings of the clock, at which the store also drops keys
   * that have reset.
   */
  private static final int TOGETHER = 4096;

  /**
   * The least number of decisions measured: by then the compiler is done with the code, and the
   * clock's grain does not matter.
   */
  private static final int MEASURED = 300_000;

  /** The most passes over a small trace, so that a short input takes a short time. */
  private static final int MOST_PASSES = 200;

  /**
   * The least bytes for following a key; each of its records takes more, up to a number of them.
   */
  private static final int KEY_BYTES = 300;

  private static final int RECORD_BYTES = 64;
  private static final int MOST_RECORDS = 2 * RollingSum.EXACT_ENTRIES;

  /** The most policies: the bits of a byte. */
  private static final int MOST = 8;

  /** A receiver of the decisions about records. */
  public interface Taker {
    void take(long nanos, long permits, boolean admitted);
  }

  private final Trace trace;

  /** The most bytes for following keys at the same time. */
  private final long maxBytes;

  /** The clock of this thread's own processor time: others on the machine do not matter. */
  private final ThreadMXBean clock = ManagementFactory.getThreadMXBean();

  /** A bit for each policy and record: set if the policy admitted the record. */
  private final byte[] admitted;

  private final long[] keys = new long[TOGETHER];
  private final long[] permits = new long[TOGETHER];
  private final long[] nanos = new long[TOGETHER];
  private int policies;

  /**
   * @param maxBytes the most bytes that may be taken, about, beside a byte a record
   */
  public Verdicts(Trace trace, long maxBytes) throws TrafficException {
    if (trace.size() > Integer.MAX_VALUE - 8) {
      throw new TrafficException(
          "input: "
              + trace.size()
              + " records (expected: at most "
              + (Integer.MAX_VALUE - 8)
              + ")");
    }
    this.trace = trace;
    this.maxBytes = maxBytes;
    admitted = new byte[(int) trace.size()];
  }

  /** One pass of all records through a store. */
  private final class Pass {
    private final MemoryStore store = trace.store();
    private final Fingerprint fingerprint = Fingerprint.seeded(0, 0);
    private final Binding limit;
    private long takenNanos;
    private long mostKeys;
    private long bytes;

    Pass(Policy policy) {
      limit = store.bind(policy.name(), policy, trace.firstNanos());
    }

    void run(int bit) throws TrafficException {
      Trace.Cursor cursor = trace.cursor();
      int done = 0;
      int filled = 0;
      while (true) {
        boolean more = cursor.next();
        if (more) {
          keys[filled] = fingerprint.of(cursor.key());
          permits[filled] = cursor.permits();
          nanos[filled++] = cursor.nanos();
        }
        if (filled == TOGETHER || !more) {
          decide(done, filled, bit);
          done += filled;
          filled = 0;
        }
        if (!more) {
          return;
        }
      }
    }

    private void decide(int from, int count, int bit) throws TrafficException {
      if (Thread.interrupted()) {
        throw new TrafficException("compare: stopped while comparing");
      }
      long start = clock.getCurrentThreadCpuTime();
      boolean full = false;
      for (int i = 0; i < count; i++) {
        long decision = store.decide(limit, keys[i], permits[i], nanos[i]);
        full |= decision == PackedDecision.KEY_SPACE_FULL;
        if (PackedDecision.allowed(decision)) {
          admitted[from + i] |= (byte) bit;
        }
      }
      if (full) {
        throw trace.noRoom();
      }
      if (store.keys() > mostKeys) {
        mostKeys = store.keys();
        bytes = store.bytes();
      }
      if (count > 0) {
        store.expire(nanos[count - 1]);
      }
      takenNanos += clock.getCurrentThreadCpuTime() - start;
    }
  }

  /** Returns the number of passes over the trace, so that enough is measured. */
  private int passes() {
    return (int) Math.min(MOST_PASSES, 1 + MEASURED / trace.size());
  }

  /**
   * Runs a policy so often that the compiler has compiled its code, before any policy is measured.
   */
  public void warmUp(Policy policy) throws TrafficException {
    for (int i = 0; i < passes(); i++) {
      new Pass(policy).run(0);
    }
  }

  /** Decides all records by one more policy. */
  public Compare.Row run(Policy policy) throws TrafficException {
    if (policies == MOST) {
      throw new IllegalStateException("policies: more (expected: at most " + MOST + ")");
    }
    int bit = 1 << policies;
    long taken = 0;
    Pass pass = new Pass(policy);
    pass.run(bit);
    for (int i = 1; i < passes(); i++) {
      taken += pass.takenNanos;
      pass = new Pass(policy);
      pass.run(bit); // Each pass decides the same, so it sets the same bits.
    }
    taken += pass.takenNanos;
    long decisions = passes() * trace.size();
    policies++;
    long[] measured = measure(policy, bit);
    long perSecond = taken == 0 ? 0 : (long) (decisions * 1e9 / taken);
    return new Compare.Row(
        policy.algorithm(),
        measured[0],
        trace.size() - measured[0],
        measured[1],
        measured[2],
        measured[3],
        pass.bytes / Math.max(1, pass.mostKeys),
        perSecond);
  }

  /** Returns four figures: admitted, the most in a window, false denials and over-admissions. */
  private long[] measure(Policy policy, int bit) {
    long[] sums = new long[4];
    int next;
    for (int from = 0; from < trace.keys(); from = next) {
      next = sliceEnd(from);
      @Nullable KeyUse[] uses = new KeyUse[next - from];
      Trace.Cursor cursor = trace.cursor();
      for (int i = 0; cursor.next(); i++) {
        int at = cursor.key() - from;
        if (at >= 0 && at < uses.length) {
          boolean fits = (admitted[i] & bit) != 0;
          sums[0] += fits ? 1 : 0;
          if (cursor.permits() > 0) {
            KeyUse use = uses[at];
            if (use == null) {
              use = new KeyUse(policy.quota().permits(), policy.quota().windowNanos());
              uses[at] = use;
            }
            use.add(
                cursor.nanos(), Math.min(cursor.permits(), KeyUse.MAX_PERMITS), fits, fits, false);
          }
        }
      }
      for (KeyUse use : uses) {
        if (use != null) {
          sums[1] = Math.max(sums[1], use.most());
          sums[2] += use.falseDenials();
          sums[3] += use.overAdmissions();
        }
      }
    }
    return sums;
  }

  /**
   * Returns the end of the slice of keys, from that key on, that can be followed at once: one key
   * at least.
   */
  private int sliceEnd(int from) {
    long bytes = 0;
    int end = from;
    while (end < trace.keys()) {
      bytes += KEY_BYTES + RECORD_BYTES * Math.min(trace.count(end), MOST_RECORDS);
      if (bytes > maxBytes && end > from) {
        break;
      }
      end++;
    }
    return end;
  }

  private boolean disputed(int record) {
    int all = (1 << policies) - 1;
    return admitted[record] != 0 && (admitted[record] & 0xff) != all;
  }

  /** Returns whether the policies differ about any record. */
  public boolean disputed() {
    for (int i = 0; i < admitted.length; i++) {
      if (disputed(i)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the key about which the policies differ most often; if they never differ, the busiest.
   */
  public int mostDisputed() {
    long[] disputes = new long[trace.keys()];
    Trace.Cursor cursor = trace.cursor();
    for (int i = 0; cursor.next(); i++) {
      disputes[cursor.key()] += disputed(i) ? 1 : 0;
    }
    int best = 0;
    for (int key = 1; key < disputes.length; key++) {
      if (disputes[key] > disputes[best]
          || (disputes[key] == disputes[best] && trace.total(key) > trace.total(best))) {
        best = key;
      }
    }
    return best;
  }

  /** Returns the start of the aligned window in which the policies differ most about the key. */
  public long mostDisputedNanos(int key, long windowNanos) {
    Map<Long, Long> disputes = new HashMap<>();
    Trace.Cursor cursor = trace.cursor();
    for (int i = 0; cursor.next(); i++) {
      if (cursor.key() == key) {
        // A window without a dispute is still better than one without a request.
        disputes.merge(
            Math.floorDiv(cursor.nanos(), windowNanos), disputed(i) ? 1_000_000L : 1, Long::sum);
      }
    }
    return disputes.entrySet().stream()
            .max(
                Map.Entry.<Long, Long>comparingByValue()
                    .thenComparing(Map.Entry.<Long, Long>comparingByKey().reversed()))
            .map(Map.Entry::getKey)
            .orElse(0L)
        * windowNanos;
  }

  /** Passes a key's records to the taker, with the decisions of the policy of that number. */
  public void each(int key, int policy, Taker taker) {
    Trace.Cursor cursor = trace.cursor();
    for (int i = 0; cursor.next(); i++) {
      if (cursor.key() == key) {
        taker.take(cursor.nanos(), cursor.permits(), (admitted[i] & 1 << policy) != 0);
      }
    }
  }
}
