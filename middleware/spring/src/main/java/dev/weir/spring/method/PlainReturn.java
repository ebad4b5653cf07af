package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.seats.RequestSeat;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * The kind of a method that returns its result itself: its caller's thread waits for the answer.
 */
final class PlainReturn implements ReturnKind {
  @Override
  public @Nullable Object run(LimitedCall call) throws Throwable {
    CallRequest asked = call.request();
    if (asked == null) {
      return call.proceed();
    }
    boolean mayBlock = !ReactiveThreads.isCurrent();
    Attempt attempt = new Attempt(call.deciding().decider(), asked, mayBlock);
    CompletableFuture<Answer> answer = attempt.begin();
    if (!answer.isDone() && !mayBlock) {
      attempt.giveUp();
      throw new IllegalStateException(
          call.place()
              + ": @RateLimit waits for an answer on "
              + Thread.currentThread().getName()
              + ", which must not be blocked (expected: a method that returns Mono, Flux or"
              + " CompletionStage)");
    }
    Answer last = await(call, attempt, answer);
    attempt.claim();
    RequestSeat seat = call.seat(asked, last);
    if (seat == null) {
      return call.finish(asked, last);
    }
    try {
      return call.finish(asked, last);
    } finally {
      seat.end();
    }
  }

  private static Answer await(LimitedCall call, Attempt attempt, CompletableFuture<Answer> answer) {
    try {
      return answer.get();
    } catch (InterruptedException e) {
      attempt.giveUp();
      Thread.currentThread().interrupt();
      throw new CancellationException(call.place() + ": interrupted while it waited for a permit");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // An answer never ends with an exception.
    }
  }
}
