package dev.weir.replay.internal.judge;

import dev.weir.Quota;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The use of windows by all keys, in bounded memory. When there are too many keys, only those whose
 * hash has one more zero at its end are followed further [adaptive sampling, Wegman, Flajolet
 * 1990]. The choice does not depend on a key's requests, so the keys that remain stand for all.
 */
public final class WindowUse {
  static final int MAX_KEYS = 1 << 17;

  /** The most entries, of 16 bytes each. */
  static final int MAX_ENTRIES = 1 << 22;

  /** The use of windows by the keys of a rule. */
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

    /** Returns the number of keys that were followed. */
    public int keys() {
      return peaks.length;
    }

    /** Returns the most permits that a key requested within a window, ascending with {@code i}. */
    public long peak(int i) {
      return peaks[i];
    }

    /** Returns the most permits that any key was admitted within a window. */
    public long most() {
      return sums[0];
    }

    /** Returns the number of refusals of a key while its window had room. */
    public long falseDenials() {
      return sums[1];
    }

    /** Returns the number of admissions of a key while its window had no room. */
    public long overAdmissions() {
      return sums[2];
    }

    /** Returns the number of keys that each followed key stands for: 1 if all were followed. */
    public long keysPerFollowed() {
      return keysPerFollowed;
    }

    /** Returns how many of the followed keys ever requested more than that within a window. */
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

  /** The least number of zeros at the end of the hash of a key that is followed. */
  private int zeros;

  WindowUse() {
    this(MAX_KEYS, MAX_ENTRIES);
  }

  public WindowUse(int maxKeys, int maxEntries) {
    this.maxKeys = maxKeys;
    this.maxEntries = maxEntries;
  }

  /** Adds a decision; see {@link KeyUse#add}. */
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

  /** Adds a request that is decided later; see {@link KeyUse#offer}. */
  void offer(RuleKey key, Quota quota, long nowNanos, long permits) {
    KeyUse use = use(key, quota);
    if (use != null) {
      grow(use.offer(nowNanos, permits));
    }
  }

  /** Adds the decision on a request that was offered before; see {@link KeyUse#judge}. */
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

  /** Returns the use of windows by the keys of each rule, by the rule's path. */
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
