package dev.weir.replay.internal.judge;

import dev.weir.Quota;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How all keys use their windows, in bounded memory: when there are too many of them, only those go
 * on being followed whose hash has one more zero at its end [adaptive sampling, Wegman, Flajolet
 * 1990]. The choice does not depend on what a key does, so the keys that remain stand for all.
 */
public final class WindowUse {
  static final int MAX_KEYS = 1 << 17;

  /** Of 16 bytes each. */
  static final int MAX_ENTRIES = 1 << 22;

  /** What the keys of a rule do. */
  public static final class RuleUse {
    public static final RuleUse NONE = new RuleUse(new long[0], new long[3], 1);

    private final long[] peaks;
    private final long[] sums;
    private final long keysPerFollowed;

    private RuleUse(long[] peaks, long[] sums, long keysPerFollowed) {
      this.peaks = peaks;
      this.sums = sums;
      this.keysPerFollowed = keysPerFollowed;
    }

    /** Returns how many keys were followed. */
    public int keys() {
      return peaks.length;
    }

    /** Returns the most permits that a key asked for within a window, ascending with {@code i}. */
    public long peak(int i) {
      return peaks[i];
    }

    /** Returns the most permits that any of them was admitted within a window. */
    public long most() {
      return sums[0];
    }

    /** Returns how often one was refused although its window had room. */
    public long falseDenials() {
      return sums[1];
    }

    /** Returns how often one was admitted although its window had no room. */
    public long overAdmissions() {
      return sums[2];
    }

    /** Returns for how many keys each stands: 1 if all were followed. */
    public long keysPerFollowed() {
      return keysPerFollowed;
    }

    /** Returns how many of the keys followed ever ask for more than that within a window. */
    public int above(long limit) {
      int at = 0;
      for (int high = peaks.length; at < high; ) {
        int middle = (at + high) >>> 1;
        if (peaks[middle] > limit) {
          high = middle;
        } else {
          at = middle + 1;
        }
      }
      return peaks.length - at;
    }
  }

  private final int maxKeys;
  private final int maxEntries;
  private final Map<RuleKey, KeyUse> keys = new HashMap<>();
  private long entries;

  /** The keys are followed whose hash ends in at least this many zeros. */
  private int zeros;

  WindowUse() {
    this(MAX_KEYS, MAX_ENTRIES);
  }

  public WindowUse(int maxKeys, int maxEntries) {
    this.maxKeys = maxKeys;
    this.maxEntries = maxEntries;
  }

  /** Takes a decision; see {@link KeyUse#add}. */
  public void add(
      RuleKey key,
      Quota quota,
      long nowNanos,
      long permits,
      boolean fits,
      boolean charged,
      boolean uncharged) {
    KeyUse use = use(key, quota);
    if (use != null) {
      grow(use.add(nowNanos, permits, fits, charged, uncharged));
    }
  }

  /** Takes a request that is decided later; see {@link KeyUse#offer}. */
  void offer(RuleKey key, Quota quota, long nowNanos, long permits) {
    KeyUse use = use(key, quota);
    if (use != null) {
      grow(use.offer(nowNanos, permits));
    }
  }

  /** Takes the decision on a request that was offered before; see {@link KeyUse#judge}. */
  void judge(
      RuleKey key,
      Quota quota,
      long nowNanos,
      long permits,
      boolean fits,
      boolean charged,
      boolean uncharged) {
    KeyUse use = use(key, quota);
    if (use != null) {
      grow(use.judge(nowNanos, permits, fits, charged, uncharged));
    }
  }

  /** Returns the use of a key, or null if it is not followed. */
  private @Nullable KeyUse use(RuleKey key, Quota quota) {
    KeyUse use = keys.get(key);
    if (use == null && followed(key)) {
      use = new KeyUse(quota.permits(), quota.windowNanos());
      keys.put(key, use);
      entries += use.entries();
    }
    return use;
  }

  private void grow(int by) {
    entries += by;
    while ((keys.size() > maxKeys || entries > maxEntries) && zeros < Integer.SIZE - 1) {
      followFewer();
    }
  }

  private boolean followed(RuleKey key) {
    if (zeros == 0) {
      return true;
    }
    int hash = key.hash() * 0x9e3779b1;
    return Integer.numberOfTrailingZeros(hash ^ (hash >>> 15)) >= zeros;
  }

  private void followFewer() {
    zeros++;
    Iterator<Map.Entry<RuleKey, KeyUse>> all = keys.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<RuleKey, KeyUse> each = all.next();
      if (!followed(each.getKey())) {
        entries -= each.getValue().entries();
        all.remove();
      }
    }
  }

  /** Returns what the keys of each rule do, by the rule's path. */
  public Map<String, RuleUse> byRule() {
    Map<String, List<KeyUse>> grouped = new HashMap<>();
    keys.forEach(
        (key, each) ->
            grouped.computeIfAbsent(key.rule().path(), p -> new ArrayList<>()).add(each));
    Map<String, RuleUse> uses = new HashMap<>();
    grouped.forEach(
        (path, of) -> {
          long[] sums = {
            of.stream().mapToLong(KeyUse::most).max().orElse(0),
            of.stream().mapToLong(KeyUse::falseDenials).sum(),
            of.stream().mapToLong(KeyUse::overAdmissions).sum()
          };
          long[] peaks = of.stream().mapToLong(KeyUse::peak).sorted().toArray();
          uses.put(path, new RuleUse(peaks, sums, 1L << zeros));
        });
    return uses;
  }
}
