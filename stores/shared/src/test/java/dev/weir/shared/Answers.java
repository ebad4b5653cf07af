package dev.weir.shared;

import dev.weir.shared.internal.DecideOne;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A callback that keeps all results. Safe for use by many threads. */
public final class Answers implements DecideOne.Callback {
  /** An answer: the number of times that it fitted and the result, or the failure. */
  public record Answer(long times, @Nullable Result result, @Nullable Failure failure) {}

  public final List<Answer> answers = new CopyOnWriteArrayList<>();

  @Override
  public void decided(long times, Result result, long remaining) {
    answers.add(new Answer(times, result, null));
  }

  @Override
  public void failed(Failure failure) {
    answers.add(new Answer(0, null, failure));
  }

  private Answer only() {
    if (answers.size() != 1) {
      throw new AssertionError("answers: " + answers + " (expected: one)");
    }
    return answers.get(0);
  }

  public long times() {
    return only().times();
  }

  public Result result() {
    Result result = only().result();
    if (result == null) {
      throw new AssertionError("failed: " + only().failure() + " (expected: a result)");
    }
    return result;
  }

  @Nullable
  public Failure failure() {
    return only().failure();
  }
}
