package dev.weir.spring.web;

import dev.weir.engine.Ticket;
import dev.weir.http.RequestLimiter;
import dev.weir.http.Verdict;
import dev.weir.identity.RequestView;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * The verdict on one request, which may come late or after a wait. It is either claimed, which
 * serves the request by it, or given up, which gives back the charge. Safe for use by many threads.
 */
final class PendingVerdict {
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile CompletableFuture<Verdict> latest = new CompletableFuture<>();
  private volatile Ticket ticket = Ticket.USED;

  /** Decides the request, once. */
  Mono<Verdict> decide(RequestLimiter limiter, RequestView view) {
    return decide(done -> limiter.decide(view, done));
  }

  /** Queues a refused request, which then waits for its turn. */
  Mono<Verdict> queue(Verdict refused) {
    return decide(done -> ticket = refused.enqueue(Long.MAX_VALUE, done));
  }

  private Mono<Verdict> decide(Consumer<Consumer<Verdict>> question) {
    CompletableFuture<Verdict> answer = new CompletableFuture<>();
    latest = answer;
    question.accept(answer::complete);
    if (over.get()) { // It was cancelled meanwhile, perhaps before the ticket was there.
      leave();
      return Mono.empty();
    }
    return answer.isDone() ? Mono.just(answer.join()) : Mono.create(sink -> later(answer, sink));
  }

  /**
   * Passes an answer on. It comes on a thread of the store or of a timer, which must not run the
   * application.
   */
  private static void later(CompletableFuture<Verdict> answer, MonoSink<Verdict> sink) {
    CompletableFuture<Void> unused =
        answer.thenAcceptAsync(
            sink::success,
            task -> {
              if (Schedulers.isInNonBlockingThread()) {
                task.run();
              } else {
                Object unusedTask = Schedulers.parallel().schedule(task);
              }
            });
  }

  /** Returns whether the request may be served by the verdict: it has not been given up. */
  boolean claim() {
    return over.compareAndSet(false, true);
  }

  /** Records that the verdict is no longer awaited. */
  void giveUp() {
    if (over.compareAndSet(false, true)) {
      leave();
    }
  }

  private void leave() {
    boolean unused = ticket.leave();
    CompletableFuture<Void> unusedStage = latest.thenAccept(Verdict::abandoned);
  }
}
