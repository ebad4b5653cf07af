package dev.weir.engine.internal.callers;

import dev.weir.Binding;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The bindings of limits that requests describe by numbers. Those of the last numbers are found
 * without allocating. Safe for use by many threads.
 */
public final class RecentBindings {
  /** The most bindings that are remembered. Any more are made anew, which costs only time. */
  public static final int MAX_REMEMBERED = 4_096;

  /** The number of bindings that are found without allocating; a power of two. */
  private static final int RECENT = 256;

  /** A maker of bindings. */
  public interface Maker {
    /**
     * Returns the binding of the limit with those numbers.
     *
     * @throws IllegalArgumentException if the numbers make no limit; the message has the reason
     */
    Binding make(long first, long second, long third, long nowNanos);
  }

  private record Numbers(long first, long second, long third) {}

  private record KnownBinding(Numbers numbers, Binding binding) {
    boolean matches(long first, long second, long third) {
      return numbers.first == first && numbers.second == second && numbers.third == third;
    }
  }

  private final Maker maker;
  private final ConcurrentHashMap<Numbers, KnownBinding> remembered = new ConcurrentHashMap<>();

  /**
   * The last bindings, written without a lock on purpose: an entry is immutable, and is compared
   * before it is used.
   */
  private final @Nullable KnownBinding[] recent = new KnownBinding[RECENT];

  public RecentBindings(Maker maker) {
    this.maker = maker;
  }

  /**
   * Returns the binding of the limit with those numbers.
   *
   * @throws IllegalArgumentException if the numbers make no limit; the message has the reason
   */
  public Binding of(long first, long second, long third, long nowNanos) {
    int slot = slot(first, second, third);
    KnownBinding known = recent[slot];
    if (known == null || !known.matches(first, second, third)) {
      known = remembered(new Numbers(first, second, third), nowNanos);
      recent[slot] = known;
    }
    return known.binding;
  }

  /** Forgets all bindings: each is made again when it is used. */
  void forget() {
    remembered.clear();
    Arrays.fill(recent, null);
  }

  private static int slot(long first, long second, long third) {
    long mixed = ((first * 31 + second) * 31 + third) * 0x9e3779b97f4a7c15L;
    return (int) (mixed >>> 32) & (RECENT - 1);
  }

  private KnownBinding remembered(Numbers numbers, long nowNanos) {
    KnownBinding known = remembered.get(numbers);
    if (known != null) {
      return known;
    }
    Binding binding = maker.make(numbers.first, numbers.second, numbers.third, nowNanos);
    KnownBinding made = new KnownBinding(numbers, binding);
    if (remembered.size() >= MAX_REMEMBERED) {
      remembered.clear();
    }
    remembered.put(numbers, made);
    return made;
  }
}
