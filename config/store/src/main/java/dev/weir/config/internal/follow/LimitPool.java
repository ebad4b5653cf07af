package dev.weir.config.internal.follow;

import dev.weir.engine.SubjectLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Different limits by small numbers: each value is kept once, as long as a slot has its number.
 * Written by one thread at a time; {@link #at} may be called by any thread that verifies afterwards
 * that the slot has not changed.
 */
public final class LimitPool {
  /** The number of {@link SubjectLimits#NONE}, which is always there. */
  public static final int NONE = 0;

  /** The most values that a slot's bits can number. */
  public static final int MAX = 1 << 24;

  private static final int FIRST = 16;

  private final int most;
  private final Map<SubjectLimits, Integer> numbers = new HashMap<>();
  private final List<Integer> free = new ArrayList<>();
  private volatile @Nullable SubjectLimits[] values = new SubjectLimits[FIRST];
  private int[] slots = new int[FIRST];
  private int next = 1;

  /**
   * Creates an empty set.
   *
   * @param most different values at a time, beside NONE, at least 1
   */
  public LimitPool(int most) {
    this.most = Math.min(most, MAX - 1);
    values[NONE] = SubjectLimits.NONE;
  }

  /** Returns the value of a number; if no slot has it any more, any value or null. */
  @Nullable
  public SubjectLimits at(int number) {
    @Nullable SubjectLimits[] now = values;
    return number < now.length ? now[number] : null;
  }

  /** Returns the number of this value for one more slot, or -1 if there is no room for it. */
  public int take(SubjectLimits value) {
    if (value.equals(SubjectLimits.NONE)) {
      return NONE;
    }
    Integer known = numbers.get(value);
    if (known != null) {
      slots[known]++;
      return known;
    }
    if (numbers.size() >= most) {
      return -1;
    }
    int number = free.isEmpty() ? next++ : free.remove(free.size() - 1);
    if (number == values.length) {
      slots = Arrays.copyOf(slots, 2 * number);
      values = Arrays.copyOf(values, 2 * number);
    }
    values[number] = value;
    slots[number] = 1;
    numbers.put(value, number);
    return number;
  }

  /** Releases a number that one slot has given up. */
  public void release(int number) {
    if (number != NONE && --slots[number] == 0) {
      SubjectLimits value = values[number];
      values[number] = null;
      if (value != null) {
        numbers.remove(value);
      }
      free.add(number);
    }
  }

  /** Returns whether no other slot has this number. */
  public boolean single(int number) {
    return number != NONE && slots[number] == 1;
  }

  public int size() {
    return numbers.size();
  }
}
