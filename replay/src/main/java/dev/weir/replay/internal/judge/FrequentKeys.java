package dev.weir.replay.internal.judge;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A counter of keys that finds the most frequent ones, in bounded memory.
 *
 * <p>Exact as long as there are no more keys than counters. From then on a new key takes over the
 * smallest counter (Space-Saving, Metwally and others, 2005): a count can then be too high, by at
 * most what it took over, and never too low; and every key with more than a {@code 1 / counters}
 * share of all counts is there.
 */
public final class FrequentKeys {
  private static final class Counter {
    private RuleKey key;
    private long count;
    private int place;

    Counter(RuleKey key) {
      this.key = key;
    }
  }

  /** A key and its count. */
  public record KeyCount(RuleKey key, long count) {}

  private final int capacity;
  private final Map<RuleKey, Counter> counters = new HashMap<>();

  /** A heap, the smallest count first. */
  private Counter[] heap = new Counter[64];

  private int size;
  private boolean exact = true;

  public FrequentKeys(int capacity) {
    this.capacity = capacity;
  }

  /** Counts a key once. Returns the key whose counter it took over, if any. */
  @Nullable
  public RuleKey add(RuleKey key) {
    RuleKey forgotten = null;
    Counter counter = counters.get(key);
    if (counter == null) {
      forgotten = size < capacity ? null : heap[0].key;
      counter = forgotten == null ? added(key) : takenOver(key);
      counters.put(key, counter);
    }
    counter.count++;
    sink(counter);
    return forgotten;
  }

  private Counter added(RuleKey key) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    Counter counter = new Counter(key);
    // With a count of 0 it belongs at the top: every entry above it moves down.
    int place = size++;
    while (place > 0) {
      Counter parent = heap[(place - 1) / 2];
      put(parent, place);
      place = (place - 1) / 2;
    }
    put(counter, 0);
    return counter;
  }

  private Counter takenOver(RuleKey key) {
    exact = false;
    Counter counter = heap[0];
    counters.remove(counter.key);
    counter.key = key;
    return counter;
  }

  private void sink(Counter counter) {
    int place = counter.place;
    while (2 * place + 1 < size) {
      int child = 2 * place + 1;
      if (child + 1 < size && heap[child + 1].count < heap[child].count) {
        child++;
      }
      if (heap[child].count >= counter.count) {
        break;
      }
      put(heap[child], place);
      place = child;
    }
    put(counter, place);
  }

  private void put(Counter counter, int place) {
    heap[place] = counter;
    counter.place = place;
  }

  /** Returns the most frequent keys; those with equal counts in the order of their text. */
  public List<KeyCount> top(int most) {
    List<KeyCount> all = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      all.add(new KeyCount(heap[i].key, heap[i].count));
    }
    all.sort(
        Comparator.comparingLong(KeyCount::count)
            .reversed()
            .thenComparing(each -> each.key.key())
            .thenComparing(each -> each.key.rule().path()));
    return List.copyOf(all.subList(0, Math.min(most, all.size())));
  }

  /** Returns whether no count is too high and no key is missing. */
  public boolean exact() {
    return exact;
  }
}
