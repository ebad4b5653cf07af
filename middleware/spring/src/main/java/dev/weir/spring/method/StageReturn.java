package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.seats.RequestSeat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The kind of a method that returns a {@link CompletionStage}. It runs on the caller's thread if
 * the answer is there at once, else on the application's executor. Refusals, and errors in
 * expressions, complete the stage.
 */
@SuppressWarnings(
    "FutureReturnValueIgnored") // The stage goes to the caller; dependent actions report
// their failures to it.
final class StageReturn implements ReturnKind {
  @Override
  public @Nullable Object run(LimitedCall call) throws Throwable {
    CallRequest asked;
    try {
      asked = call.request();
    } catch (IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    }
    if (asked == null) {
      return call.proceed();
    }
    Attempt attempt = new Attempt(call.deciding().decider(), asked, true);
    CompletableFuture<Answer> answer = attempt.begin();
    if (!answer.isDone()) {
      return later(call, asked, attempt, answer);
    }
    attempt.claim();
    return answer.join().allowed()
        ? proceed(call, asked, answer.join())
        : refused(call, asked, answer.join());
  }

  /** Runs the method, whose seats are given back when its stage is complete. */
  private static @Nullable Object proceed(LimitedCall call, CallRequest asked, Answer answer)
      throws Throwable {
    RequestSeat seat = call.seat(asked, answer);
    if (seat == null) {
      return call.proceed();
    }
    CompletionStage<?> stage = null;
    try {
      stage = (CompletionStage<?>) call.proceed();
      return stage;
    } finally {
      if (stage == null) {
        seat.end();
      } else {
        stage.whenComplete((value, failure) -> seat.end());
      }
    }
  }

  private static @Nullable Object refused(LimitedCall call, CallRequest asked, Answer answer) {
    try {
      return call.refuse(asked, answer);
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static CompletableFuture<@Nullable Object> later(
      LimitedCall call, CallRequest asked, Attempt attempt, CompletableFuture<Answer> answer) {
    CompletableFuture<@Nullable Object> result = new CompletableFuture<>();
    answer
        .thenAcceptAsync(
            last -> {
              if (attempt.claim()) {
                finish(call, asked, last, result);
              }
            },
            call.deciding().executor())
        .whenComplete(
            (nothing, failure) -> {
              if (failure != null) { // The executor takes no more tasks.
                attempt.giveUp();
                result.completeExceptionally(failure);
              }
            });
    result.whenComplete(
        (value, failure) -> {
          if (result.isCancelled()) {
            attempt.giveUp();
          }
        });
    return result;
  }

  private static void finish(
      LimitedCall call,
      CallRequest asked,
      Answer answer,
      CompletableFuture<@Nullable Object> result) {
    try {
      CompletionStage<?> stage =
          (CompletionStage<?>)
              (answer.allowed() ? proceed(call, asked, answer) : call.refuse(asked, answer));
      if (stage == null) {
        result.complete(null);
        return;
      }
      stage.whenComplete(
          (value, failure) -> {
            if (failure == null) {
              result.complete(value);
            } else {
              result.completeExceptionally(failure);
            }
          });
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }
}
