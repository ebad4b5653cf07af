package dev.weir.spring.method;

import dev.weir.engine.Answer;
import dev.weir.engine.seats.RequestSeat;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * The kind of a method that returns a {@code Mono}, a {@code Flux} or another publisher: each
 * subscription is a call of its own, and the method runs after its answer. An answer that comes
 * late, on a thread that must not be blocked, is passed to Reactor's.
 */
final class ReactiveReturn implements ReturnKind {
  private final ReactiveAdapter adapter;

  ReactiveReturn(ReactiveAdapter adapter) {
    this.adapter = adapter;
  }

  @Override
  public Object run(LimitedCall call) {
    Publisher<?> result =
        adapter.isMultiValue()
            ? Flux.defer(() -> each(call.again()))
            : Mono.defer(() -> Mono.from(each(call.again())));
    return adapter.fromPublisher(result);
  }

  private Publisher<Object> each(LimitedCall call) {
    CallRequest asked = call.request();
    if (asked == null) {
      return body(call::proceed);
    }
    Attempt attempt = new Attempt(call.deciding().decider(), asked, true);
    return answer(attempt)
        .flatMapMany(
            answer -> attempt.claim() ? claimed(call, asked, answer) : Mono.<Object>empty());
  }

  private Publisher<Object> claimed(LimitedCall call, CallRequest asked, Answer answer) {
    RequestSeat seat = call.seat(asked, answer);
    Publisher<Object> body = body(() -> call.finish(asked, answer));
    return seat == null ? body : Flux.from(body).doFinally(end -> seat.end());
  }

  private static Mono<Answer> answer(Attempt attempt) {
    return Mono.create(
        sink -> {
          CompletableFuture<Answer> answer = attempt.begin();
          sink.onCancel(attempt::giveUp);
          if (answer.isDone()) {
            sink.success(answer.join());
          } else {
            handOver(answer, sink);
          }
        });
  }

  private static void handOver(CompletableFuture<Answer> answer, MonoSink<Answer> sink) {
    Object unused =
        answer
            .thenAcceptAsync(sink::success, task -> Schedulers.parallel().schedule(task))
            .whenComplete(
                (nothing, failure) -> {
                  if (failure != null) { // Given up, without a report, or Reactor is shut down.
                    sink.error(failure);
                  }
                });
  }

  /** The source of a publisher. */
  private interface Body {
    @Nullable Object run() throws Throwable;
  }

  private Publisher<Object> body(Body body) {
    try {
      return adapter.toPublisher(body.run());
    } catch (Throwable e) {
      return Mono.error(e);
    }
  }
}
