package dev.weir.replay.internal.judge;

import dev.weir.Policy;
import dev.weir.replay.DryRunResult;
import dev.weir.replay.ReplayTally;
import dev.weir.rules.Rule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The counts of each key's refusals before and after a change, in bounded memory. */
public final class KeyChanges {
  /** The number of keys that are counted exactly, of some 300 bytes each. */
  static final int MOST_KEYS = 1 << 16;

  /** A key of a rule that both sides may have. */
  private record Key(String path, String name) {}

  private static final class Counts {
    private final String policy;
    private long before;
    private long after;

    Counts(String policy) {
      this.policy = policy;
    }
  }

  private final int mostKeys;
  private final Map<Key, Counts> keys = new HashMap<>();
  private final Set<String> split = new HashSet<>();
  private boolean exact = true;

  public KeyChanges() {
    this(MOST_KEYS);
  }

  public KeyChanges(int mostKeys) {
    this.mostKeys = mostKeys;
  }

  /** Returns the listener for one of the two sides. */
  public ReplayTally.Listener side(boolean after) {
    return new ReplayTally.Listener() {
      @Override
      public void judged(Rule rule, int descriptor) {
        if (descriptor > 0 || sharesAny(rule)) {
          split.add(rule.path());
        }
      }

      @Override
      public void refused(RuleKey key) {
        count(key, after);
      }
    };
  }

  private static boolean sharesAny(Rule rule) {
    for (int i = 0; i < rule.levels(); i++) {
      if (rule.sharedAt(i)) {
        return true;
      }
    }
    return false;
  }

  private void count(RuleKey of, boolean after) {
    Key key = new Key(of.rule().path(), of.key());
    Counts counts = keys.get(key);
    if (counts == null) {
      if (keys.size() == mostKeys) {
        forgetRare();
      }
      Policy policy = of.rule().policy();
      counts = new Counts(policy == null ? key.path : policy.name());
      keys.put(key, counts);
    }
    counts.before += after ? 0 : 1;
    counts.after += after ? 1 : 0;
  }

  /** Drops the half of the keys with the fewest refusals. */
  private void forgetRare() {
    exact = false;
    List<Map.Entry<Key, Counts>> all = new ArrayList<>(keys.entrySet());
    all.sort(
        Comparator.comparingLong(
            (Map.Entry<Key, Counts> each) -> each.getValue().before + each.getValue().after));
    all.subList(0, Math.max(1, all.size() / 2)).forEach(each -> keys.remove(each.getKey()));
  }

  /** Returns the keys that are refused more often, or less often, the largest difference first. */
  public List<DryRunResult.KeyChange> top(int most, boolean more, KeyNames names) {
    int sign = more ? 1 : -1;
    return keys.entrySet().stream()
        .filter(each -> sign * difference(each.getValue()) > 0)
        .sorted(
            Comparator.comparingLong(
                    (Map.Entry<Key, Counts> each) -> -sign * difference(each.getValue()))
                .thenComparing(each -> each.getKey().path)
                .thenComparing(each -> each.getKey().name))
        .limit(most)
        .map(
            each ->
                new DryRunResult.KeyChange(
                    each.getValue().policy,
                    each.getKey().path,
                    names.shown(each.getKey().name),
                    each.getValue().before,
                    each.getValue().after))
        .toList();
  }

  private static long difference(Counts counts) {
    return counts.after - counts.before;
  }

  /** Returns whether no count is too low and no key is missing. */
  public boolean exact() {
    return exact;
  }

  /** Returns whether a rule counts requests with different first descriptors together. */
  public boolean isSplit(String path) {
    return split.contains(path);
  }
}
