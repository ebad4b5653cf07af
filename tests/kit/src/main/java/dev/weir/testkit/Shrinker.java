package dev.weir.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** A tool that shortens a failing list by delta debugging. [Zeller and Hildebrandt, 2002] */
public final class Shrinker {
  private Shrinker() {}

  /**
   * Returns a part of a list, in its order, that still fails and no longer does if any one element
   * is left out.
   *
   * @param fails returns whether a list fails, always the same for the same list
   * @throws IllegalArgumentException if the list does not fail
   */
  public static <T> List<T> minimal(List<T> failing, Predicate<? super List<T>> fails) {
    if (!fails.test(failing)) {
      throw new IllegalArgumentException("failing: it passes (expected: a list that fails)");
    }
    List<T> kept = List.copyOf(failing);
    int chunk = Math.max(1, kept.size() / 2);
    while (!kept.isEmpty()) {
      List<T> shorter = without(kept, chunk, fails);
      if (shorter.size() == kept.size() && chunk == 1) {
        return kept;
      }
      chunk = shorter.size() == kept.size() ? Math.max(1, chunk / 2) : chunk;
      chunk = Math.max(1, Math.min(chunk, shorter.size() / 2));
      kept = shorter;
    }
    return kept;
  }

  /** Goes through the list once and leaves out every chunk that is not needed to fail. */
  private static <T> List<T> without(List<T> all, int chunk, Predicate<? super List<T>> fails) {
    List<T> kept = all;
    for (int from = 0; from < kept.size(); ) {
      List<T> shorter = new ArrayList<>(kept.subList(0, from));
      shorter.addAll(kept.subList(Math.min(kept.size(), from + chunk), kept.size()));
      if (fails.test(shorter)) {
        kept = shorter;
      } else {
        from += chunk;
      }
    }
    return List.copyOf(kept);
  }
}
