package dev.weir.engine.internal.matching;

import dev.weir.engine.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * The answers to several requests, passed on in the requests' order when the last one has arrived.
 * The store may give them in any order, on any thread.
 */
public final class AnswerCollector {
  private final AtomicReferenceArray<Answer> answers;
  private final AtomicInteger missing;
  private final Consumer<? super List<Answer>> done;

  /**
   * Creates a collector for {@code size} requests.
   *
   * @param done receives the answers, not before {@link #allSent}
   */
  public AnswerCollector(int size, Consumer<? super List<Answer>> done) {
    this.answers = new AtomicReferenceArray<>(size);
    this.missing = new AtomicInteger(size + 1);
    this.done = done;
  }

  /** Adds the answer to a request; to be called once for each. */
  public void put(int index, Answer answer) {
    answers.set(index, answer);
    one();
  }

  /** Marks the end of the requests, all of which have been sent; to be called once. */
  public void allSent() {
    one();
  }

  private void one() {
    if (missing.decrementAndGet() == 0) {
      List<Answer> all = new ArrayList<>(answers.length());
      for (int i = 0; i < answers.length(); i++) {
        all.add(Objects.requireNonNull(answers.get(i)));
      }
      done.accept(all);
    }
  }
}
