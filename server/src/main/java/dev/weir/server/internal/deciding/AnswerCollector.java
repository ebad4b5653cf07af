package dev.weir.server.internal.deciding;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * A collector of answers that come in any order; it passes them on when all are there. Thread-safe.
 */
public final class AnswerCollector<T> {
  private final AtomicReferenceArray<T> all;
  private final AtomicInteger missing;
  private final Consumer<? super List<T>> done;

  /**
   * @param size the number of answers; if it is 0, {@code done} is called at once
   */
  public AnswerCollector(int size, Consumer<? super List<T>> done) {
    all = new AtomicReferenceArray<>(size);
    missing = new AtomicInteger(size);
    this.done = done;
    if (size == 0) {
      done.accept(List.of());
    }
  }

  /** Adds one answer, once. */
  public void put(int index, T answer) {
    all.set(index, answer);
    if (missing.decrementAndGet() == 0) {
      List<T> list = new ArrayList<>(all.length());
      for (int i = 0; i < all.length(); i++) {
        list.add(Objects.requireNonNull(all.get(i)));
      }
      done.accept(list);
    }
  }
}
