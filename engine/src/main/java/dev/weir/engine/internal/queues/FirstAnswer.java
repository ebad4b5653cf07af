package dev.weir.engine.internal.queues;

import dev.weir.engine.Answer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * A callback that passes on only the first answer to a request, so that the request has exactly one
 * even if deciding it fails. Safe for use by many threads.
 */
public final class FirstAnswer implements Consumer<Answer> {
  private final Consumer<? super Answer> done;
  private final AtomicBoolean given = new AtomicBoolean();

  public FirstAnswer(Consumer<? super Answer> done) {
    this.done = done;
  }

  @Override
  public void accept(Answer answer) {
    if (given.compareAndSet(false, true)) {
      done.accept(answer);
    }
  }

  /** Returns whether there is an answer. */
  public boolean isGiven() {
    return given.get();
  }

  /**
   * Answers with an error if there is no answer yet. Otherwise the failure is that of the callback,
   * and is rethrown.
   *
   * @param revision the number of the rules that should have decided
   */
  public void failed(Throwable failure, long revision) {
    if (given.compareAndSet(false, true)) {
      done.accept(Answer.error("the request could not be decided: " + failure, revision));
    } else if (failure instanceof Error error) {
      throw error;
    } else if (failure instanceof RuntimeException exception) {
      throw exception;
    } else {
      throw new IllegalStateException(failure);
    }
  }
}
